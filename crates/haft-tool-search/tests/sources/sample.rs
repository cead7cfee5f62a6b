//! Shapes and what is known of them.

use std::fmt::{self, Display};

mod drawing;

/// How many corners there may be.
pub const MOST_CORNERS: usize = 64;
static COUNTER: AtomicUsize = AtomicUsize::new(0);
type Result<T> = std::result::Result<T, ShapeError>;

/// A shape.
#[derive(Debug, Clone)]
pub struct Shape<T = f64> {
    pub corners: Vec<Point<T>>,
    name: String,
}

pub struct Meters(pub f64);

pub enum Kind {
    Open,
    Closed { corners: usize },
}

union Bits {
    float: f32,
    bits: u32,
}

pub trait Area {
    const UNIT: &'static str;
    type Output;

    fn area(&self) -> Self::Output;

    fn double(&self) -> Self::Output
    where
        Self::Output: std::ops::Add<Output = Self::Output>,
    {
        self.area() + self.area()
    }
}

impl<T: Copy> Shape<T> {
    /// Makes a shape.
    pub fn new(
        corners: Vec<Point<T>>, // in order
        name: &str,
    ) -> Self {
        fn checked(name: &str) -> String {
            name.to_owned()
        }
        let name = checked(name);
        Self { corners, name }
    }
}

impl Area for Shape<f64> {
    const UNIT: &'static str = "m²";
    type Output = Meters;

    fn area(&self) -> Meters {
        Meters(drawing::measure(&self.corners))
    }
}

macro_rules! corners {
    ($($x:expr),*) => { vec![$(Point::from($x)),*] };
}

extern "C" {
    fn native_area(corners: *const Point, len: usize) -> f64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures() {
        let shape = Shape::new(corners![(0.0, 0.0)], "point");
        assert_eq!(shape.area().0, 0.0);
    }
}
