use super::super::language;
use super::super::parse::TextParser;
use super::super::symbols::{Symbol, symbols};
use super::super::{entry::Entry, grammar::Grammar};
use super::{Bodies, Shape};
use crate::watch::{Halt, Watch};
use proptest::prelude::*;
use proptest::sample::Index;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

struct Unwatched;

impl Watch for Unwatched {
    fn is_cancelled(&self) -> bool {
        false
    }

    fn is_out_of_time(&self) -> bool {
        false
    }

    fn looked_at(&self, _: u64) {}
}

/// All that an outline says of a text, by its shape or by all of it; nothing where there is an error.
fn outline(grammar: &'static Grammar, text: &[u8], shape: Option<&Shape>) -> Option<Vec<String>> {
    let halt = Halt::new(&Unwatched);
    let (parsed, parts) = shape.map_or((text, &[][..]), |shape| (&shape.text, &shape.parts));
    let tree = TextParser::new().parse_parts(grammar, parsed, parts, &halt).unwrap();
    if tree.root_node().has_error() {
        return None;
    }
    let all = symbols(grammar, &tree, usize::MAX, &halt).unwrap().all;
    let line = |symbol: &Symbol<'_>| {
        let entry = Entry::of_symbol(grammar, symbol, text, true);
        format!("{} {:?} {}", entry.depth, symbol.owner, entry.line())
    };
    Some(all.iter().map(line).collect())
}

/// Checks that of a text these are the bodies that are taken out, with nothing of them left but line breaks and what stands
/// around them.
#[track_caller]
fn check(bodies: Bodies, text: &str, inside: &[&str]) {
    let blank = |body: &str| -> String {
        let mut blank: Vec<u8> = body.bytes().map(|byte| if byte == b'\n' { byte } else { b' ' }).collect();
        if let Some((open, close)) = bodies.around {
            blank[body.len() - body.trim_start().len()] = open;
            blank[body.trim_end().len() - 1] = close;
        }
        String::from_utf8(blank).unwrap()
    };
    let expected = inside.iter().fold(text.to_owned(), |text, body| {
        assert!(text.contains(body), "{body:?} is not in {text:?}");
        text.replacen(body, &blank(body), 1)
    });
    let without = bodies.without(text.as_bytes()).map(|shape| String::from_utf8(shape.text).unwrap());
    assert_eq!(without, (!inside.is_empty()).then_some(expected));
}

#[test]
#[cfg(feature = "code-rust")]
fn bodies_of_rust() {
    let check = |text: &str, inside: &[&str]| check(super::RUST, text, inside);
    check("fn a() { b }\nfn c();", &[" b "]);
    check("impl A { fn a(&self) -> [u8; { 1 }] {\n x; } fn b() {yy} }", &["\n x; ", "yy"]);
    check("impl A for fn(u8) { fn a() { b } }", &[" b "]);
    check("fn r#fn() { r#fn(1) }", &[" r#fn(1) "]);
    check("fn a() {}", &[]);
    // What may define something stays.
    check("fn a() { fn b() { c } }", &[]);
    check("fn a() { struct B { c: u8 } }", &[]);
    check("struct A { a: fn(u8), b: u8 }\nconst C: u8 = { 1 };", &[]);
    check("trait A { fn a(); const B: [u8; 1] = [{ 1 }]; }", &[]);
    check("macro_rules! a { () => { fn $b() { c } } }", &[]);
    // Braces in texts and comments are none.
    for text in [
        r" '{'; b'}'; '\''; '\\'; '\u{7d}'; 'ü'; 'a: loop {} ",
        r##" "}"; "\"}"; b"}"; r"\"; r#"}"#; br#"" }"#; c"}"; "##,
        " /* } /* } */ } */ /**/ // }\n",
    ] {
        check(&format!("fn a<'a>(b: &'a u8) {{{text}}}\nfn c();"), &[text]);
    }
    // Where it cannot be told, nothing is taken out.
    for broken in
        ["fn a() { b", "fn a() { ) }", "fn a() { \"b }", "fn a() { /* }", "} fn a() { b }", "fn a() { r#\" }"]
    {
        check(broken, &[]);
    }
}

#[test]
#[cfg(feature = "code-python")]
fn bodies_of_python() {
    let check = |text: &str, inside: &[&str]| check(super::PYTHON, text, inside);
    check("def a():\n  b\n  c  # d\ne\n", &["b\n  c"]);
    check(
        "class A:\n  def a(self): # b\n    # c\n    return d\n\n  e = 1\n  async  def b():\n\tcc",
        &["return d", "cc"],
    );
    check("async def a(b,\n c):\n  if d:\n    e(\nf)\n  #\n", &["if d:\n    e(\nf)"]);
    let text = "'''\nb\n  def c():\\'''\n'''\n  \"\\\"\"";
    check(&format!("def a():\n  {text}\n"), &[text]);
    check("def a():\n  if b \\\n and c: d\n  e\n", &["if b \\\n and c: d\n  e"]);
    // What may define something stays, but not what is in it.
    check("def a():\n  def b():\n    cc\n  d\n", &["cc"]);
    check("def a():\n  class B:\n    c = 1\n", &[]);
    check("def a():\n  type B = int\n", &[]);
    check("def a():\n  while b := c():\n    d\n", &["while b := c():\n    d"]);
    // There is no room for what stands around a body of one character.
    check("def a():\n  b\n", &[]);
    check("def a(): return b\ndef_ = 1\n", &[]);
    for broken in ["def a():\n  (b\n", "def a():\n  b)\n", "def a():\n  'b\n", "def a():\n  '''b\n"] {
        check(broken, &[]);
    }
    // Nothing says what a line is in that is neither as deep as one before nor behind a colon.
    for crooked in [
        "def a():\n    bb\n   c\n",
        "def a():\n  bb\n   c\n",
        "def a():\n    if b:\n  cc\n",
        "  def a():\n    bb\n",
        "def a():\n\\\n  bb\n",
        "def a(): b:\n  cc\ndd\n",
        "def a():\n  b:\ncc = 1\n",
    ] {
        check(crooked, &[]);
    }
}

#[test]
#[cfg(feature = "code-go")]
fn bodies_of_go() {
    let check = |text: &str, inside: &[&str]| check(super::GO, text, inside);
    check(
        "package a\nfunc a() { bb }\nfunc (c *C) d[T any](e int) (f, g error) {\n h()\n}\n",
        &[" bb ", "\n h()\n"],
    );
    check("func a() interface{ B() } { cc }", &[" cc "]);
    check("func a(b struct{ c int }) map[string]struct{} { dd }", &[" dd "]);
    check("func a[T interface{ ~int }](\n\tb T,\n) (c []struct {\n\td T\n}) {\n\tee\n}\n", &["ee"]);
    check(
        "func a() func(b int) error { return func(b int) error { c } }",
        &[" return func(b int) error { c } "],
    );
    check("func a() { switch b := c.(type) {} }", &[" switch b := c.(type) {} "]);
    check("func a() { const b = 1; var c d }", &[" const b = 1; var c d "]);
    // What may define something stays, as does what is no function.
    check("func a() { type b struct { c int } }", &[]);
    check("func a() { type (\nb int\n)\n}", &[]);
    check("type a struct { b func(c int) }\ntype d interface {\n\te()\n}\n", &[]);
    check("var a = func() { b }\nvar c = map[string]func(){\n\t\"d\": func() { e },\n}\n", &[]);
    check("func a() { var b interface { c() } }", &[]);
    check("func a() { var b interface {}; c() }", &[" var b interface {}; c() "]);
    // There is no room for what may have to stand in its place.
    check("func a() { b }", &[]);
    // A function that is written elsewhere has no body here.
    check("func a(b int) (c int)\nvar d = e{f: 1}\nfunc g() T // {\nvar h = []T{\n\t1,\n}\n", &[]);
    for text in [
        " '{'; '\\''; '\\\\'; '\\u007d' ",
        " \"}\"; \"\\\"}\" ",
        " `}\n\\`; `\"{` ",
        " /* } ' */ // } \" '\n",
    ] {
        check(&format!("func a() {{{text}}}\nfunc b()\n"), &[text]);
    }
    for broken in [
        "func a() { b",
        "func a() { ) }",
        "func a() { \"b\n\" }",
        "func a() { ` }",
        "} func a() { b }",
        "func a() { /* }",
    ] {
        check(broken, &[]);
    }
}

#[test]
#[cfg(feature = "code-java")]
fn bodies_of_java() {
    let check = |text: &str, inside: &[&str]| check(super::JAVA, text, inside);
    check(
        "class A { A() { b; } int c() throws D, e.F { g; } <T> T[] h(int i)[] {\n j;\n } }",
        &[" b; ", " g; ", "\n j;\n "],
    );
    check(
        "interface A { default void b() { c; } @D({1, 2}) static int e() { f; } int g(); }",
        &[" c; ", " f; "],
    );
    check("class A { class B { void c() { d; } } void e() { f; } }", &[" d; ", " f; "]);
    check(
        "enum A { B(1) { int c() { d; } }, E { void f() { g; } }; void h() { i; } }",
        &[" d; ", " g; ", " i; "],
    );
    check("record A(int b) { A { c; } int d() { e; } void record(int f) { g; } }", &[" e; ", " g; "]);
    check("void main() { a; }", &[" a; "]);
    // Nothing is shown of a class without a name, or of what is called.
    check(
        "class A { void b() { new C() { void d() { e; } }; f = () -> { g; }; } }",
        &[" new C() { void d() { e; } }; f = () -> { g; }; "],
    );
    check(
        "class A { void b() { C.class.d(); int record = 1; record.e(); } }",
        &[" C.class.d(); int record = 1; record.e(); "],
    );
    // What may define something stays, as does what is no method.
    for local in ["class C {}", "interface C {}", "enum C { D }", "record C(int d) {}"] {
        check(&format!("class A {{ void b() {{ {local} }} }}"), &[]);
    }
    check("@interface A { String[] b() default {\"c\"}; Class<?> d() default E.class; }", &[]);
    check("enum A { B, C(1), D { }; }", &[]);
    check("class A { int[] a = {1, 2}; B b = new B(1) { int c; }; D d = (e) -> { f; }; static { g; } }", &[]);
    for text in [
        " '{'; '\\''; '\\\\' ",
        " \"}\"; \"\\\"}\" ",
        " \"\"\"\n } \" \\\"\"\" ' \"\"\" ",
        " /* } ' */ // } \" '\n",
    ] {
        check(&format!("class A {{ void b() {{{text}}} }}"), &[text]);
    }
    for broken in [
        "class A { void b() { c }",
        "class A { void b() { ) } }",
        "class A { void b() { \"c\n\" } }",
        "class A { void b() { \"\"\" } }",
        "} class A { void b() { c } }",
    ] {
        check(broken, &[]);
    }
}

#[cfg(all(feature = "code-c", feature = "code-cpp"))]
const BOTH: [Bodies; 2] = [super::C, super::CPP];

#[test]
#[cfg(all(feature = "code-c", feature = "code-cpp"))]
fn bodies_of_c() {
    let check = |text: &str, inside: &[&str]| BOTH.into_iter().for_each(|bodies| check(bodies, text, inside));
    check("int a(void) { b; }\nstatic struct c *d(struct e f)\n{\n g;\n}\n", &[" b; ", "\n g;\n"]);
    check("struct a { int b; } c(int d) { e; }", &[" e; "]);
    check("enum { A, B }; __attribute__((c)) void (*d(int e))(int) { f; }", &[" f; "]);
    check("void a(void) { struct b { int c; }; enum { D }; }", &[" struct b { int c; }; enum { D }; "]);
    // What has declarations or values in it is no body.
    check("struct a { int b; };\ntypedef union { int c; } d;\nenum e { F = 1, G };", &[]);
    check("struct __attribute__((packed)) { int a; } b;\nstruct __attribute__((c)) d { int e; };", &[]);
    check("int a[] = { [B(1)] = 2 }, b = C(3) + 4;\nstruct c d = { .e = F(1), .g = { 2 } };", &[]);
    // Of an old definition only what is within lists is taken for bodies.
    check("int a(b, c) int b; char *c; { if (d) { e; } }", &[" e; "]);
    for text in [
        " '{'; '\\''; L'}'; u8'\\\\'; 1'000'000; 0x1'f; ",
        " \"}\"; \"\\\"}\\\n}\" ",
        " /* } ' */ // } \" '\n",
        " // \\\n } \n",
        "\n#define B(c) { c \\\n { /* }\n } */ {\n#error it isn't }\n",
        "\n#if B\n if (c) {\n#elif D\n if (e) {\n#else\n {\n#endif\n }\n",
    ] {
        check(&format!("void a(void) {{{text}}}\nint f(void);"), &[text]);
    }
    check(
        "#define A(b) { b \\\n {\n#ifdef C\nint d(void) { e; }\n#else\nint f(void) { g; }\n#endif\n",
        &[" e; ", " g; "],
    );
    for broken in [
        "void a(void) { b",
        "void a(void) { ) }",
        "void a(void) { \"b\n\" }",
        "void a(void) { 'b\n }",
        "} void a(void) { b }",
        // What is between two conditions must not be taken for a body.
        "#if A\nvoid b(void) {\n#endif\nint c(void);\n#if A\n}\n#endif\nint d(void) { e; }",
        "#if A\nint b(int c) {\n#else\nint b(void) {\n#endif\n d; }",
        "int a(void) {\n#if B\n c; }\n#else\n d; }\n#endif\n",
        "int a(void) {\n#if B\n if (c) {\n#elif D\n if (e) {\n#endif\n }\n",
        "int a(void) { b; }\n#endif\n",
    ] {
        check(broken, &[]);
    }
}

#[test]
#[cfg(feature = "code-cpp")]
fn bodies_of_cpp() {
    let check = |text: &str, inside: &[&str]| check(super::CPP, text, inside);
    check(
        "namespace a::b { class C : public D<e> { public: C(int f) { g; } ~C() override { h; } }; }",
        &[" g; ", " h; "],
    );
    check("extern \"C\" { int a() { b; } }\nextern \"C\" int c() { d; }", &[" b; ", " d; "]);
    check("A::A(int b) : c(b), d{b}, E<f>{b} { g; }", &[" g; "]);
    check(
        "auto a() const && noexcept(b) override -> C<d> { e; } f g() try { h; } catch (...) { i; }",
        &[" e; ", " h; ", " i; "],
    );
    check("template <class A, typename B = C<int>> void d(A b) { e; }", &[" e; "]);
    check(
        "struct A { A& operator=(A b) { c; } bool operator()(int d) const { e; } bool operator<(A f) { g; } };",
        &[" c; ", " e; ", " g; "],
    );
    check("const char *a() { return R\"b(}\" {)b\"; }", &[" return R\"b(}\" {)b\"; "]);
    check("class A { Q_B(c)\npublic:\n A() { d; } Q_E(f) private: struct { int g; } h; };", &[" d; "]);
    check(
        "namespace a A_VISIBILITY(b) { int c; }\nclass A_EXPORT(d) E { int f; };\nclass g alignas(8) { int h; };",
        &[],
    );
    check(
        "template <class A> struct B<decltype(c(d))> { int e; };\nstruct f : decltype(g()) { int h; };",
        &[],
    );
    check("enum class A : decltype(b()) { C };\nauto d = [](int e) { struct F { int g; }; };", &[]);
    check("class A { B<void(*)(int)> b{c()}; int d(1), e{2}; void f() A_NOEXCEPT { g; } };", &[" g; "]);
    check("template <class A> requires (B<A>) struct C { int d; };", &[]);
    check("const char *a() { return R\"b(}\"; }", &[]);
}

#[test]
#[cfg(all(feature = "code-javascript", feature = "code-typescript"))]
fn bodies_of_javascript() {
    let all = [super::JAVASCRIPT, super::TYPESCRIPT, super::TSX];
    let check = |text: &str, inside: &[&str]| all.into_iter().for_each(|bodies| check(bodies, text, inside));
    check("function a(b = {}) { c(); }\nasync function* d() { e(); }\n", &[" c(); ", " e(); "]);
    check(
        "class A extends b(C) { #d = 1; constructor() { ee; } static async *f() { gg; } get [h]() { ii; } 'j'() { kk; } if() { ll; } }",
        &[" ee; ", " gg; ", " ii; ", " kk; ", " ll; "],
    );
    check(
        "const a = { b() { cc; }, d: function () { ee; }, f: () => { gg; } };",
        &[" cc; ", " ee; ", " gg; "],
    );
    check("const a = () => { b : cc };\nconst d = () => { ee ; };", &[" ee ; "]);
    check("const a = () => { /* b */ c /* d */ : ee };\nconst f = () => { // g\n h: ii };", &[]);
    check(
        "a.b = async (c) => { dd; };\ne = f => { gg; };\nh = function () { ii; };",
        &[" dd; ", " gg; ", " ii; "],
    );
    check(
        "export default function () { aa; }\nfunction b() { const c = 1; let d; var e; }",
        &[" aa; ", " const c = 1; let d; var e; "],
    );
    check(
        "function a() { b(c => c, (d, e) => { return f; }, function () { gg; }); }",
        &[" b(c => c, (d, e) => { return f; }, function () { gg; }); "],
    );
    check(
        "function a() { if (b) { cc; } else { for (const d of e) { ff; } } try { gg; } catch { hh; } }",
        &[" if (b) { cc; } else { for (const d of e) { ff; } } try { gg; } catch { hh; } "],
    );
    check(
        "function a() { b.class = c.function; return { d: 1 }; }",
        &[" b.class = c.function; return { d: 1 }; "],
    );
    // What may define something stays, but not what is in it.
    check("(function () { var a; function b() { cc; } })();", &[" cc; "]);
    check("a(() => { const b = 1; });\na(function b() { let c; });\nexport default () => { var d; };", &[]);
    check(
        "a = function () { var b; c(() => { let d; }); }();\ne = function () { var f; }\ng = function () { var h; }.i;",
        &[" var f; "],
    );
    check("function a() { const b = () => { cc; }; }", &[" cc; "]);
    check("function a() { return { b() { cc; }, catch(d) { ee; } }; }", &[" cc; "]);
    check("function a() { return { if(b) { cc; } }; }", &[]);
    check("function a() { return class { b = 1; }; }\nfunction c() { class D {} }", &[]);
    check("class A { b = c(() => { const d = 1; }); static { let e; } }", &[]);
    check(
        "if (a) { var b = 1; } else { c = 2; }\nswitch (d) { case 1: { if (e) { var f; } } }\nlabel: { g; }",
        &[],
    );
    check("function a() { /* } ' */ // } \" '\n bb; // }\n }", &["bb; // }"]);
    // A comment that would be shown in front of what it is in stays.
    check("a = () => { // b\n cc;\n};\nd = () => { /* e */ ff; };", &["cc;", "ff;"]);
    check("a = () => { bb; // c\n};\nd = (e) => { (ff /* g */) };", &[]);
    for text in [
        " '}'; \"}\"; '\\''; '\\\n}'; ",
        " `}${ { a: `}${b}` } }$\\`{`; ",
        " a / b; c() / d / '}'; (e) / f; g[1] / 2 / '}'; 1 / h; i.return / 1 / '}'; ",
        " a = /}'/; b(/[/}]\\//g); return /}/; if (c) /}/.d(); !/{/; ",
    ] {
        check(&format!("function a() {{{text}}}\nfunction b() {{}}"), &[text]);
    }
    for broken in [
        "function a() { bb",
        "function a() { ) }",
        "function a() { 'b\n' }",
        "function a() { `b }",
        "function a() { = /b\n/ }",
        "} function a() { bb }",
        "function a() { /* }",
        // It cannot be told what the slash is.
        "function a() { {} /b}/ }",
        "function a() { b++ / c / 1 }",
    ] {
        check(broken, &[]);
    }
    // What is text in an element is not read.
    for element in ["<p>it's {b}</p>", "c && <B.C d='}' />", "<>}</>"] {
        let text = format!("function a() {{ return {element}; }}");
        for bodies in [super::JAVASCRIPT, super::TSX] {
            assert_eq!(bodies.without(text.as_bytes()), None, "{element}");
        }
    }
}

#[test]
#[cfg(feature = "code-typescript")]
fn bodies_of_typescript() {
    let check = |text: &str, inside: &[&str]| check(super::TYPESCRIPT, text, inside);
    check("function a<B extends { c: string }>(d: { e: B }): Promise<{ f: B }> { gg; }", &[" gg; "]);
    check(
        "class A<B = {}> { c(): { d: B } { ee; } f(g: B): g is { h: B } { ii; } j(): (k: B) => { l: B } { mm; } n(): B[] | null { oo; } }",
        &[" ee; ", " ii; ", " mm; ", " oo; "],
    );
    check("class A { b(): c\n d: { e: f };\n abstract g(): h;\n i(): j\n k() { ll; } }", &[" ll; "]);
    check("declare function a(): b\ninterface C { d: e; }\nfunction f(): g\n{ hh; }", &[" hh; "]);
    check(
        "const a = async <B,>(c: B) => { dd; };\nclass E { f = (g: H): I => { jj; }; }",
        &[" dd; ", " jj; "],
    );
    check(
        "function a() { const b = <c>d; type === 1; module.e(); interface; return f as { g: h }; }",
        &[" const b = <c>d; type === 1; module.e(); interface; return f as { g: h }; "],
    );
    check(
        "namespace a { export const b = 1; export function c() { dd; } }\nenum E { F }\ndeclare module 'g' { let h: i; }\ndeclare global { var j: k; }",
        &[" dd; "],
    );
    for local in [
        "interface B { c: d }",
        "type B = c",
        "enum B { C }",
        "namespace B {}",
        "declare let b: c",
        "module b {}",
        "abstract class B {}",
    ] {
        check(&format!("function a() {{ {local} }}"), &[]);
    }
    check("function a() { return { b(): c { dd; }, e(): { f: g } { hh; } }; }", &[]);
    check("function a() { return { b(): void { cc; } }; }", &[]);
    check("function a() { return b! / c / 1; }", &[]);
}

fn sources(from: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(from).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && entry.file_name() != "target" => sources(&path, into),
            Ok(kind) if kind.is_file() => into.push(path),
            _ => {}
        }
    }
}

/// What came of comparing the files of a directory.
#[derive(Debug, Default, PartialEq, Eq)]
struct Compared {
    files: usize,
    /// How many of them have bodies that were taken out.
    shortened: usize,
    /// How many cannot be parsed without them, though they can be with them.
    spoiled: Vec<PathBuf>,
    /// The first line that differs, of each file of which one does.
    differing: Vec<(PathBuf, Option<String>)>,
}

fn compare_all(directory: &Path) -> Compared {
    let mut files = Vec::new();
    sources(directory, &mut files);
    let mut compared = Compared::default();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy();
        if language::by_name(&name).is_none() {
            continue;
        }
        let text = fs::read(&file).unwrap();
        let Some(grammar) = language::of(&name, &text) else { continue };
        let Some(bodies) = grammar.without_bodies else { continue };
        // What is not text is not outlined.
        if text.len() > 1 << 20 || memchr::memchr(0, &text).is_some() {
            continue;
        }
        compared.files += 1;
        let Some(shape) = bodies.without(&text) else { continue };
        let shape = outline(grammar, &text, Some(&shape));
        compared.shortened += usize::from(shape.is_some());
        // Where something is wrong in a body alone, that is not seen; all else is shown as it would be without it.
        match (shape, outline(grammar, &text, None)) {
            (Some(shape), Some(whole)) if shape != whole => {
                let line = whole.into_iter().zip(shape).find(|(whole, shape)| whole != shape);
                compared.differing.push((file, line.map(|(whole, shape)| format!("{whole}\n{shape}"))));
            }
            (None, Some(_)) => compared.spoiled.push(file),
            _ => {}
        }
    }
    compared
}

/// `HAFT_OUTLINE_SOURCES` adds a directory of sources.
#[test]
#[cfg(feature = "code")]
fn an_outline_is_the_same_without_bodies() {
    let own = compare_all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(own.files > 50 && own.shortened > 40, "{own:?}");
    assert_eq!((own.spoiled, own.differing), (vec![], vec![]));
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sources");
    assert_eq!(compare_all(&samples), Compared { files: 11, shortened: 8, ..Compared::default() });
    if let Some(more) = env::var_os("HAFT_OUTLINE_SOURCES") {
        let Compared { files, shortened, spoiled, differing } = compare_all(Path::new(&more));
        println!("{files} files are compared, of which {shortened} have bodies to take out");
        assert_eq!((spoiled, differing), (vec![], vec![]));
    }
}

/// What an edit puts in: what bodies, and texts in which no bracket counts, begin and end with.
const PIECES: [&str; 20] = [
    "{", "}", "(", ")", "[", "]", "\"", "'", "`", "/", "//", "/*", "*/", "\\", "\n", ";", "=", ":", "=>",
    "#if A\n",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    /// Where a text still fits the language, what is read wrong must not change what is shown.
    #[test]
    #[cfg(feature = "code")]
    fn an_edit_makes_no_outline_differ(
        file in any::<Index>(),
        edits in prop::collection::vec((any::<Index>(), 0_usize..3, prop::sample::select(&PIECES[..])), 1..5),
    ) {
        let mut files = Vec::new();
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sources"), &mut files);
        files.sort_unstable();
        let file = file.get(&files);
        let mut text = fs::read_to_string(file).unwrap();
        for (at, removed, added) in edits {
            let mut start = at.index(text.len());
            while !text.is_char_boundary(start) {
                start -= 1;
            }
            let end = (start + removed..=text.len()).find(|end| text.is_char_boundary(*end)).unwrap_or(start);
            text.replace_range(start..end, added);
        }
        let grammar = language::of(&file.file_name().unwrap().to_string_lossy(), text.as_bytes()).unwrap();
        let text = text.as_bytes();
        let shape = grammar.without_bodies.and_then(|bodies| bodies.without(text));
        if let Some(shape) = shape
            && let Some(shape) = outline(grammar, text, Some(&shape))
            && let Some(whole) = outline(grammar, text, None)
        {
            prop_assert_eq!(shape, whole, "{}", String::from_utf8_lossy(text));
        }
    }
}

/// What is read of a text goes on where the rest of the file is, in bytes, lines and columns.
#[test]
#[cfg(feature = "code-rust")]
fn what_is_read_is_in_its_place() {
    let text = "fn ab() { x();\n\n  y() }\nfn c() {d}";
    let shape = super::RUST.without(text.as_bytes()).unwrap();
    let places: Vec<_> = shape
        .parts
        .iter()
        .map(|part| {
            let (start, end) = (part.start_point, part.end_point);
            (&text[part.start_byte..part.end_byte], (start.row, start.column), (end.row, end.column))
        })
        .collect();
    let expected = [("fn ab() { ", (0, 0), (0, 10)), (" }\nfn c() {d}", (2, 5), (3, 10))];
    assert_eq!(places, expected);
}
