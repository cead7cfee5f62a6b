//! What is given of a representative source in each language.

use super::text;
use expect_test::{Expect, expect};
use haft_testkit::Tree;
use serde_json::json;
use std::fmt::Write as _;

/// Outlines a source, and looks for names in it.
fn check(name: &str, source: &str, wanted: &[&str], expected: &Expect) {
    let tree = Tree::new().file(name, source);
    let mut found = text(&tree, json!({ "path": name }));
    for wanted in wanted {
        let places = text(&tree, json!({ "name": wanted, "role": "both" }));
        write!(found, "\n\n=== {wanted}\n{places}").unwrap();
    }
    expected.assert_eq(&found);
}

#[test]
fn rust() {
    let source = include_str!("../../sources/sample.rs");
    check(
        "sample.rs",
        source,
        &["measure", "Shape", "corners"],
        &expect![[r#"
        5 module: mod drawing
        8 constant: pub const MOST_CORNERS: usize = 64
        9 static: static COUNTER: AtomicUsize = AtomicUsize::new(0)
        10 type: type Result<T> = std::result::Result<T, ShapeError>
        14-17 struct: pub struct Shape<T = f64> (2 fields)
        19 struct: pub struct Meters(pub f64)
        21-24 enum: pub enum Kind (2 variants)
        26-29 union: union Bits (2 fields)
        31-43 trait: pub trait Area
          32 constant: const UNIT: &'static str
          33 type: type Output
          35 method: fn area(&self) -> Self::Output
          37-42 method: fn double(&self) -> Self::Output where Self::Output: std::ops::Add<Output = Self::Output>
        45-57 impl: impl<T: Copy> Shape<T>
          47-56 method: pub fn new(corners: Vec<Point<T>>, name: &str) -> Self
            51-53 function: fn checked(name: &str) -> String
        59-66 impl: impl Area for Shape<f64>
          60 constant: const UNIT: &'static str = "m²"
          61 type: type Output = Meters
          63-65 method: fn area(&self) -> Meters
        68-70 macro: macro_rules! corners
        73 function: fn native_area(corners: *const Point, len: usize) -> f64
        77-85 module: mod tests
          81-84 function: fn measures()

        24 symbols in 85 lines of Rust

        === measure
        sample.rs:64 call: Meters(drawing::measure(&self.corners))

        0 definitions and 1 use in 1 file

        === Shape
        sample.rs:14-17 struct: pub struct Shape<T = f64> (2 fields)
        sample.rs:45 impl: impl<T: Copy> Shape<T> {
        sample.rs:59 impl: impl Area for Shape<f64> {
        sample.rs:82 use: let shape = Shape::new(corners![(0.0, 0.0)], "point");

        1 definition and 3 uses in 1 file

        === corners
        sample.rs:15 field: pub corners: Vec<Point<T>>
        sample.rs:23 field: corners: usize
        sample.rs:68-70 macro: macro_rules! corners
        sample.rs:48 use: corners: Vec<Point<T>>, // in order
        sample.rs:55 use: Self { corners, name }
        sample.rs:64 use: Meters(drawing::measure(&self.corners))
        sample.rs:73 use: fn native_area(corners: *const Point, len: usize) -> f64;
        sample.rs:82 call: let shape = Shape::new(corners![(0.0, 0.0)], "point");

        3 definitions and 5 uses in 1 file"#]],
    );
}

#[test]
fn python() {
    let source = include_str!("../../sources/sample.py");
    check(
        "sample.py",
        source,
        &["pairs", "Shape"],
        &expect![[r#"
        6 variable: MOST_CORNERS = 64
        7 variable: registry: dict[str, "Shape"] = {}
        10-11 class: class Area(Protocol)
          11 method: def area(self) -> float
        14-40 class: class Shape(Area) (3 fields)
          22-28 method: def area(self) -> float
            24-25 function: def part(a, b)
          30-37 method: async def load(cls, path: str, *, strict: bool = True) -> "Shape"
          39-40 class: class Meta (1 field)
        44-45 function: def pairs(items)
        47 variable: pairs = None
        50-52 function: def main() -> None

        12 symbols in 52 lines of Python

        === pairs
        sample.py:44-45 function: def pairs(items)
        sample.py:47 variable: pairs = None
        sample.py:27 call: total = sum(part(a, b) for a, b in pairs(self.corners))

        2 definitions and 1 use in 1 file

        === Shape
        sample.py:14-40 class: class Shape(Area) (3 fields, 3 members)
        sample.py:51 call: shape = Shape([(0, 0)])

        1 definition and 1 use in 1 file"#]],
    );
}

#[test]
fn javascript() {
    let source = include_str!("../../sources/sample.js");
    check(
        "sample.js",
        source,
        &["measure", "draw", "find-all"],
        &expect![[r#"
        5 variable: const MOST_CORNERS = 64
        6 variable: let registry = {}
        7 variable: var first, second = 2
        9-28 class: export default class Shape extends Base (2 fields)
          12-14 method: onDraw = (canvas) =>
          16-19 method: constructor(corners)
          21-23 method: get area()
          25-27 method: static async load(path)
        30-36 function: export function measure(corners, { closed = true } = {})
          31-33 function: function part(a, b)
          34 function: const sign = (value) => (value < 0 ? -1 : 1)
        38-41 function: export const draw = async (shape) =>
        43-45 function: function* walk(shape)
        47-49 function: module.exports.scale = function (shape, factor)
        51 function: Shape.prototype.move = function move(x, y)
        53-60 variable: const api =
          54-56 method: list()
          57 function: remove: function (id)
          58 function: 'find-all': (query) => query
        63-65 function: function fixture()

        20 symbols in 66 lines of JavaScript

        === measure
        sample.js:30-36 function: export function measure(corners, { closed = true } = {}) (2 members)
        sample.js:22 call: return measure(this.corners);

        1 definition and 1 use in 1 file

        === draw
        sample.js:38-41 function: export const draw = async (shape) =>
        sample.js:13 call: canvas.draw(this);
        sample.js:40 call: canvas.draw(shape);

        1 definition and 2 uses in 1 file

        === find-all
        sample.js:58 function: 'find-all': (query) => query

        1 definition and 0 uses in 1 file"#]],
    );
}

#[test]
fn jsx() {
    let source = include_str!("../../sources/sample.jsx");
    check(
        "sample.jsx",
        source,
        &["Frame"],
        &expect![[r#"
        1-3 function: export const Canvas = ({ shape }) =>
        5-7 function: export default function Frame({ children })

        2 symbols in 7 lines of JavaScript

        === Frame
        sample.jsx:5-7 function: export default function Frame({ children })
        sample.jsx:2 call: return <Frame>{shape.name}</Frame>;

        1 definition and 1 use in 1 file"#]],
    );
}

#[test]
fn typescript() {
    let source = include_str!("../../sources/sample.ts");
    check(
        "sample.ts",
        source,
        &["scale", "Shape", "Closed"],
        &expect![[r#"
        3 variable: export const MOST_CORNERS = 64
        4 variable: declare const VERSION: string
        5 type: export type Corner = { x: number; y: number }
        7-12 interface: export interface Area<T = number> extends Base (1 field)
          9 method: area(scale: T): number
        14-17 enum: export enum Kind (2 variants)
        19-37 class: export abstract class Shape<T extends Point = Point> implements Area (2 fields)
          23 method: onDraw = (canvas: Canvas): void =>
          25 method: constructor(private readonly id: number)
          27 method: abstract area(scale: number): number
          30-32 method: get size(): number
          34-36 method: protected static async load<U>(path: string): Promise<Shape>
        39-41 namespace: export namespace Drawing
          40 function: export function draw(shape: Shape): void
        43-45 module: declare module 'canvas'
          44 function: export function open(): Canvas
        47 function: export function scale(shape: Shape): Shape
        48 function: export function scale(shape: Shape, factor: number): Shape
        49-51 function: export function scale(shape: Shape, factor = 1): Shape
        53 function: export const measure = (shape: Shape): number => shape.area(1)
        55 class: abstract class Base

        21 symbols in 55 lines of TypeScript

        === scale
        sample.ts:47 function: export function scale(shape: Shape): Shape
        sample.ts:48 function: export function scale(shape: Shape, factor: number): Shape
        sample.ts:49-51 function: export function scale(shape: Shape, factor = 1): Shape
        sample.ts:9 use: area(scale: T): number;
        sample.ts:27 use: abstract area(scale: number): number;

        3 definitions and 2 uses in 1 file

        === Shape
        sample.ts:19-37 class: export abstract class Shape<T extends Point = Point> implements Area (2 fields, 5 members)
        sample.ts:10 type: (shape: Shape): void;
        sample.ts:34 type: protected static async load<U>(path: string): Promise<Shape> {
        sample.ts:40 type: export function draw(shape: Shape): void {}
        sample.ts:47 type: export function scale(shape: Shape): Shape;
        sample.ts:48 type: export function scale(shape: Shape, factor: number): Shape;
        sample.ts:49 type: export function scale(shape: Shape, factor = 1): Shape {
        sample.ts:53 type: export const measure = (shape: Shape): number => shape.area(1);

        1 definition and 7 uses in 1 file

        === Closed
        sample.ts:16 variant: Closed = 'closed'

        1 definition and 0 uses in 1 file"#]],
    );
}

#[test]
fn tsx() {
    let source = include_str!("../../sources/sample.tsx");
    check(
        "sample.tsx",
        source,
        &["Canvas"],
        &expect![[r#"
        3 type: type Props = { shape: Shape }
        5-8 function: export const Canvas: React.FC<Props> = ({ shape }) =>
          6 function: const onClick = () => select(shape)
        10-12 function: export default function Frame(props: React.PropsWithChildren)
        14-18 class: class Legacy extends React.Component<Props>
          15-17 method: render()

        6 symbols in 18 lines of TypeScript

        === Canvas
        sample.tsx:5-8 function: export const Canvas: React.FC<Props> = ({ shape }) => (1 member)
        sample.tsx:16 call: return <Canvas shape={this.props.shape} />;

        1 definition and 1 use in 1 file"#]],
    );
}

#[test]
fn go() {
    let source = include_str!("../../sources/sample.go");
    check(
        "sample.go",
        source,
        &["measure", "Shape"],
        &expect![[r#"
        8 constant: const MostCorners = 64
        11 constant: Open Kind = iota
        12 constant: Closed
        16 variable: registry = map[string]*Shape{}
        17 variable: first, second int
        21 type: type Kind int
        23-27 struct: type Shape struct (3 fields)
        30-33 interface: Area interface
          31 method: Area() float64
        34 type: Points = []Point
        37-41 function: func New[T any](corners []T, name string) (*Shape, error)
          38 struct: type local struct (1 field)
        43-45 method: func (s *Shape) Area() float64
        47 function: func measure(corners []Point) float64

        14 symbols in 47 lines of Go

        === measure
        sample.go:47 function: func measure(corners []Point) float64
        sample.go:44 call: return measure(s.Corners)

        1 definition and 1 use in 1 file

        === Shape
        sample.go:23-27 struct: type Shape struct (3 fields)
        sample.go:16 type: registry = map[string]*Shape{}
        sample.go:37 type: func New[T any](corners []T, name string) (*Shape, error) {
        sample.go:40 type: return &Shape{name: name}, nil
        sample.go:43 type: func (s *Shape) Area() float64 {

        1 definition and 4 uses in 1 file"#]],
    );
}

#[test]
fn java() {
    let source = include_str!("../../sources/sample.java");
    check(
        "sample.java",
        source,
        &["area", "Shape", "corners"],
        &expect![[r#"
        6-44 class: public abstract class Shape<T extends Point> extends Base implements Area (3 fields)
          15-18 constructor: public Shape(List<T> corners)
          20-26 method: public double area(double scale, int digits) throws ShapeException
          28 method: protected abstract void draw(Canvas canvas)
          30-34 class: private static class Part (1 field)
            33 method: void move()
          36-43 enum: enum Kind (2 variants)
            39 method: int corners()
            42 method: int corners()
        46-54 interface: interface Area (1 field)
          49 method: double area(double scale, int digits)
          51-53 method: default double twice()
        56-60 record: record Point(double x, double y)
          57-59 constructor: Point
        62-64 annotation: @interface Unit
          63 method: String value() default "m"

        16 symbols in 64 lines of Java

        === area
        sample.java:20-26 method: public double area(double scale, int digits) throws ShapeException
        sample.java:49 method: double area(double scale, int digits)
        sample.java:52 call: return area(2, 0);

        2 definitions and 1 use in 1 file

        === Shape
        sample.java:6-44 class: public abstract class Shape<T extends Point> extends Base implements Area (3 fields, 5 members)
        sample.java:15-18 constructor: public Shape(List<T> corners)

        2 definitions and 0 uses in 1 file

        === corners
        sample.java:9 field: private List<T> corners, others
        sample.java:39 method: int corners()
        sample.java:42 method: int corners()
        sample.java:16 use: public Shape(List<T> corners) {
        sample.java:17 use: this.corners = corners;
        sample.java:25 use: return measure(corners) * scale;

        3 definitions and 3 uses in 1 file"#]],
    );
}

#[test]
fn c() {
    let source = include_str!("../../sources/sample.c");
    check(
        "sample.c",
        source,
        &["shape_draw", "shape", "first"],
        &expect![[r#"
        4 macro: #define MOST_CORNERS 64
        5 macro: #define SQUARE(x) ((x) * (x))
        7-9 type: typedef struct point point_t
          7-9 struct: struct point (2 fields)
        11 type: typedef int (*compare_t)(const void *, const void *)
        13-17 struct: struct shape (3 fields)
        19 enum: enum kind (2 variants)
        21-24 union: union bits (2 fields)
        26 variable: extern int debug
        27 variable: static const char *names[] = { "open", "closed" }
        28 variable: int first = 1, second
        29 variable: static int (*hook)(int)
        31 function: double shape_area(const struct shape *shape)
        32 function: static struct shape *shape_copy(const struct shape *shape, int deep)
        35-41 function: int shape_draw(struct shape *shape, int color)
        43 function: int shape_draw(struct shape *shape, int color)
        46-48 function: static struct shape *shape_copy(const struct shape *shape, int deep)

        17 symbols in 48 lines of C

        === shape_draw
        sample.c:35-41 function: int shape_draw(struct shape *shape, int color)
        sample.c:43 function: int shape_draw(struct shape *shape, int color)

        2 definitions and 0 uses in 1 file

        === shape
        sample.c:13-17 struct: struct shape (3 fields)
        sample.c:16 type: int (*draw)(struct shape *self);
        sample.c:31 type: double shape_area(const struct shape *shape);
        sample.c:32 type: static struct shape *shape_copy(const struct shape *shape, int deep);
        sample.c:36 type: shape_draw(struct shape *shape,
        sample.c:43 type: int shape_draw(struct shape *shape, int color) { return 0; }
        sample.c:46 type: static struct shape *shape_copy(const struct shape *shape, int deep) {
        sample.c:47 use: return deep ? clone(shape) : (struct shape *)shape;

        1 definition and 7 uses in 1 file

        === first
        sample.c:28 variable: int first = 1, second

        1 definition and 0 uses in 1 file"#]],
    );
}

#[test]
fn a_header() {
    let source = include_str!("../../sources/sample.h");
    check(
        "sample.h",
        source,
        &["shape_t"],
        &expect![[r#"
        4 type: typedef struct shape shape_t
        5 function: double shape_area(const shape_t *shape)

        2 symbols in 7 lines of C

        === shape_t
        sample.h:4 type: typedef struct shape shape_t
        sample.h:5 type: double shape_area(const shape_t *shape);

        1 definition and 1 use in 1 file"#]],
    );
}

#[test]
fn cpp() {
    let source = include_str!("../../sources/sample.cpp");
    check(
        "sample.cpp",
        source,
        &["area", "Shape", "measure"],
        &expect![[r#"
        3 macro: #define MOST_CORNERS 64
        5-50 namespace: namespace shapes
          7 variable: constexpr int limit = 64
          8 type: using Points = std::vector<Point>
          10 enum: enum class Kind : int (2 variants)
          12-31 class: template <typename T> class Shape : public Base (2 fields)
            15 method: explicit Shape(std::vector<T> corners)
            16 method: virtual ~Shape() = default
            18 method: double area() const
            19 method: bool operator==(const Shape &other) const
            20 method: static Shape load(const std::string &path)
            21 method: template <typename U> U as() const
            23-26 struct: struct Part (1 field)
              25 method: void move()
          33-34 method: template <typename T> Shape<T>::Shape(std::vector<T> corners)
          36-39 method: template <typename T> bool Shape<T>::operator==(const Shape &other) const
          44-47 function: int &counter()
        52-54 namespace: namespace a::b
          53 function: auto measure(int x) -> double
        57 function: int shape_area(struct shape *shape)
        60-63 function: int main(int argc, char **argv)

        21 symbols in 63 lines of C++

        === area
        sample.cpp:18 method: double area() const

        1 definition and 0 uses in 1 file

        === Shape
        sample.cpp:12-31 class: template <typename T> class Shape : public Base (2 fields, 7 members)
        sample.cpp:15 method: explicit Shape(std::vector<T> corners)
        sample.cpp:33-34 method: template <typename T> Shape<T>::Shape(std::vector<T> corners)
        sample.cpp:16 use: virtual ~Shape() = default;
        sample.cpp:19 type: bool operator==(const Shape &other) const;
        sample.cpp:20 type: static Shape load(const std::string &path);
        sample.cpp:34 type: Shape<T>::Shape(std::vector<T> corners) : corners_(std::move(corners)) {}
        sample.cpp:37 type: bool Shape<T>::operator==(const Shape &other) const {

        3 definitions and 5 uses in 1 file

        === measure
        sample.cpp:53 function: auto measure(int x) -> double
        sample.cpp:18 call: double area() const { return measure(corners_); }

        1 definition and 1 use in 1 file"#]],
    );
}
