//! The plots of `docs/performance.md`, drawn from what `cargo xtask bench scaling` printed: lines of `plot,series,x,y`.

use std::ops::Range;

use anyhow::{Context as _, ensure};
use plotters::prelude::{
    BLACK, ChartBuilder, Circle, Cross, EmptyElement, IntoDrawingArea as _, IntoLogRange as _, LineSeries,
    PathElement, PointSeries, RGBColor, SVGBackend, SeriesLabelPosition, TriangleMarker, WHITE,
};
use plotters::style::{Color as _, IntoFont as _};
use serde_json::{Map, Value};

const SIZE: (u32, u32) = (760, 420);

/// Colours that people tell apart who do not see all of them (Okabe and Ito, 2008).
const COLOURS: [RGBColor; 4] =
    [RGBColor(0, 114, 178), RGBColor(213, 94, 0), RGBColor(0, 158, 115), RGBColor(204, 121, 167)];

/// What a plot says beside its points.
struct Plot {
    name: &'static str,
    title: &'static str,
    x: &'static str,
    y: &'static str,
    /// Where nothing is drawn, so that the names can stand there.
    names: SeriesLabelPosition,
}

const PLOTS: [Plot; 5] = [
    Plot {
        name: "tools",
        title: "One call, and the list for a model",
        x: "tools in the registry",
        y: "nanoseconds",
        names: SeriesLabelPosition::MiddleMiddle,
    },
    Plot {
        name: "files",
        title: "Searches",
        x: "files",
        y: "milliseconds",
        names: SeriesLabelPosition::UpperLeft,
    },
    Plot {
        name: "output",
        title: "A script that prints",
        x: "bytes printed",
        y: "milliseconds",
        names: SeriesLabelPosition::UpperLeft,
    },
    Plot {
        name: "memory",
        title: "Memory of a script that prints",
        x: "bytes printed",
        y: "KiB at most",
        names: SeriesLabelPosition::UpperLeft,
    },
    Plot {
        name: "concurrency",
        title: "Calls of 10 ms in one batch",
        x: "calls",
        y: "milliseconds",
        names: SeriesLabelPosition::UpperLeft,
    },
];

/// The points of one name, in the order in which they were measured.
struct Series {
    name: String,
    points: Vec<(f64, f64)>,
}

/// Draws all of them, by name, from the points of a file.
pub(crate) fn all(file: &str, points: &str) -> anyhow::Result<Map<String, Value>> {
    let drawn = PLOTS.iter().map(|plot| {
        let series = series(points, plot.name).with_context(|| format!("cannot read {file}"))?;
        ensure!(!series.is_empty(), "{file} has no points of `{}`", plot.name);
        let drawn = draw(plot, &series).with_context(|| format!("cannot draw `{}`", plot.name))?;
        Ok((plot.name.to_owned(), drawn.into()))
    });
    drawn.collect()
}

fn series(points: &str, plot: &str) -> anyhow::Result<Vec<Series>> {
    let mut all: Vec<Series> = Vec::new();
    for (line, text) in points.lines().enumerate().skip(1) {
        let wrong = || format!("line {}: `{text}` is not `plot,series,x,y`", line + 1);
        let mut fields = text.split(',');
        let mut next = || fields.next().with_context(wrong);
        let (of, name, x, y) = (next()?, next()?, next()?, next()?);
        ensure!(fields.next().is_none() && PLOTS.iter().any(|plot| plot.name == of), wrong());
        let point = (x.parse().with_context(wrong)?, y.parse().with_context(wrong)?);
        if of != plot {
            continue;
        }
        match all.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push(point),
            None => all.push(Series { name: name.to_owned(), points: vec![point] }),
        }
    }
    Ok(all)
}

/// The least and the most of some numbers, with a little around them.
fn around(numbers: impl Iterator<Item = f64> + Clone) -> Range<f64> {
    let least = numbers.clone().fold(f64::INFINITY, f64::min);
    let most = numbers.fold(0.0, f64::max);
    least / 1.5..most * 1.5
}

fn draw(plot: &Plot, all: &[Series]) -> anyhow::Result<String> {
    let mut drawn = String::new();
    let points = all.iter().flat_map(|series| &series.points);
    let (xs, ys) = (around(points.clone().map(|point| point.0)), around(points.map(|point| point.1)));
    {
        let area = SVGBackend::with_string(&mut drawn, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .caption(plot.title, ("sans-serif", 18).into_font())
            .margin(12)
            .x_label_area_size(42)
            .y_label_area_size(64)
            .build_cartesian_2d(xs.log_scale(), ys.log_scale())?;
        chart
            .configure_mesh()
            .x_desc(plot.x)
            .y_desc(plot.y)
            .x_label_formatter(&|x| short(*x))
            .y_label_formatter(&|y| short(*y))
            .light_line_style(WHITE)
            .draw()?;
        for (index, series) in all.iter().enumerate() {
            let colour = COLOURS[index % COLOURS.len()];
            let line = LineSeries::new(series.points.iter().copied(), colour.stroke_width(2));
            chart
                .draw_series(line)?
                .label(series.name.clone())
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
            let at = series.points.iter().copied();
            // Each has a mark of its own, so that nobody needs the colours.
            let marks = match index {
                0 => chart.draw_series(PointSeries::<_, _, Circle<_, _>, _>::new(at, 4, colour.filled())),
                1 => chart.draw_series(PointSeries::<_, _, TriangleMarker<_, _>, _>::new(
                    at,
                    5,
                    colour.filled(),
                )),
                2 => {
                    chart.draw_series(PointSeries::<_, _, Cross<_, _>, _>::new(at, 4, colour.stroke_width(2)))
                }
                _ => chart.draw_series(PointSeries::of_element(at, 4, colour, &|at, size, colour| {
                    EmptyElement::at(at) + Circle::new((0, 0), size, colour.stroke_width(2))
                })),
            };
            marks?;
        }
        chart
            .configure_series_labels()
            .position(plot.names.clone())
            .background_style(WHITE.mix(0.85))
            .border_style(BLACK.mix(0.3))
            .draw()?;
        area.present()?;
    }
    Ok(drawn)
}

/// Writes a number in few characters.
fn short(number: f64) -> String {
    match number {
        number if number >= 1e6 => format!("{}M", number / 1e6),
        number if number >= 1e3 => format!("{}k", number / 1e3),
        number => format!("{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{PLOTS, draw, series};

    const POINTS: &str = "plot,series,x,y\ntools,a call,1,700.5\nfiles,grep,100,1.0\ntools,a call,10,701\ntools,the list,1,13\n";

    #[test]
    fn points_are_told_apart_by_plot_and_series() {
        let tools = series(POINTS, "tools").unwrap();
        let told: Vec<_> =
            tools.iter().map(|series| (series.name.as_str(), series.points.as_slice())).collect();
        assert_eq!(told, [("a call", &[(1.0, 700.5), (10.0, 701.0)][..]), ("the list", &[(1.0, 13.0)][..])]);
        let refused = series("plot,series,x,y\ntools,a call,1\n", "tools").err().unwrap();
        assert_eq!(refused.to_string(), "line 2: `tools,a call,1` is not `plot,series,x,y`");
    }

    #[test]
    fn a_plot_says_what_it_shows_and_is_the_same_each_time() {
        let tools = series(POINTS, "tools").unwrap();
        let drawn = draw(&PLOTS[0], &tools).unwrap();
        for said in [
            "One call, and the list for a model",
            "tools in the registry",
            "nanoseconds",
            "a call",
            "the list",
        ] {
            assert!(drawn.contains(said), "{said}");
        }
        assert_eq!(drawn, draw(&PLOTS[0], &tools).unwrap());
    }
}
