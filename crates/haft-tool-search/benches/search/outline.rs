//! Large files outlined, beside the bare parse of the same bytes.

use crate::Tools;
use haft_tool_search::SearchOptions;
use serde_json::{Value, json};
use std::env;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};
use tree_sitter::{Language, Parser};

/// How often each side is run, in turns.
const TIMES: u32 = 21;

/// How long 200 symbols of a file of 5,000 lines may take.
const TARGET: Duration = Duration::from_millis(15);

const FUNCTIONS: usize = 200;

/// A function of 25 lines in each language, as programs have them.
const RUST: &str = "
/// Reads the header number @ and what follows it.
pub fn read_header_@(&mut self, input: &[u8]) -> Result<Header, Error> {
    let mut cursor = Cursor::new(input);
    let kind = cursor.read_u16()?;
    if kind != KIND_@ {
        return Err(Error::Unexpected { kind, offset: cursor.position() });
    }
    let length = usize::from(cursor.read_u16()?);
    let mut fields = Vec::with_capacity(length);
    for index in 0..length {
        let name = cursor.read_string()?;
        match self.known.get(&name) {
            Some(known) if known.is_fixed => {
                fields.push(Field::fixed(index, known.size));
            }
            Some(known) => fields.push(Field::of(index, known)),
            None => self.unknown += 1,
        }
    }
    // What is left belongs to the next one.
    let rest = cursor.remaining();
    self.statistics.headers += 1;
    Ok(Header { kind, fields, rest: rest.to_vec() })
}
";

const PYTHON: &str = "
    def read_header_@(self, data: bytes) -> Header:
        \"\"\"Reads the header number @ and what follows it.\"\"\"
        cursor = Cursor(data)
        kind = cursor.read_u16()
        if kind != KIND_@:
            raise UnexpectedKind(kind, cursor.position)
        length = cursor.read_u16()
        fields = []
        for index in range(length):
            name = cursor.read_string()
            known = self.known.get(name)
            if known is None:
                self.unknown += 1
                continue
            if known.is_fixed:
                fields.append(Field.fixed(index, known.size))
            else:
                fields.append(Field.of(index, known))
        # What is left belongs to the next one.
        rest = cursor.remaining()
        self.statistics['headers'] += 1
        if not fields and self.strict:
            raise ValueError(f'nothing in {kind} at {index}')
        return Header(kind, fields, rest=rest)
";

const TYPESCRIPT: &str = "
  /** Reads the header number @ and what follows it. */
  readHeader@(input: Uint8Array, options: Options = {}): Header {
    const cursor = new Cursor(input);
    const kind = cursor.readU16();
    if (kind !== KIND_@) {
      throw new UnexpectedKind(kind, cursor.position);
    }
    const length = cursor.readU16();
    const fields: Field[] = [];
    for (let index = 0; index < length; index++) {
      const known = this.known.get(cursor.readString());
      if (known === undefined) {
        this.unknown += 1;
        continue;
      }
      fields.push(known.isFixed ? Field.fixed(index) : Field.of(index, known));
    }
    // What is left belongs to the next one.
    const rest = cursor.remaining();
    this.statistics.headers += 1;
    if (fields.length === 0 && options.strict) {
      throw new Error(`nothing in ${kind}`);
    }
    return { kind, fields, rest };
  }
";

const JAVASCRIPT: &str = "
  /** Reads the header number @ and what follows it. */
  readHeader@(input, options = {}) {
    const cursor = new Cursor(input);
    const kind = cursor.readU16();
    if (kind !== KIND_@) {
      throw new UnexpectedKind(kind, cursor.position);
    }
    const length = cursor.readU16();
    const fields = [];
    for (let index = 0; index < length; index++) {
      const known = this.known.get(cursor.readString());
      if (known === undefined) {
        this.unknown += 1;
        continue;
      }
      fields.push(known.isFixed ? Field.fixed(index) : Field.of(index, known));
    }
    // What is left belongs to the next one.
    const rest = cursor.remaining();
    this.statistics.headers += 1;
    if (fields.length === 0 && options.strict) {
      throw new Error(`nothing in ${kind}`);
    }
    return { kind, fields, rest };
  }
";

const C: &str = "
/* Reads the header number @ and what follows it. */
static int read_header_@(struct reader *reader, const uint8_t *input, size_t length)
{
    struct cursor cursor = cursor_of(input, length);
    uint16_t kind = cursor_read_u16(&cursor);
    if (kind != KIND_@) {
        return -EINVAL;
    }
    uint16_t count = cursor_read_u16(&cursor);
    struct field *fields = calloc(count, sizeof(*fields));
    for (size_t index = 0; index < count; index++) {
        const char *name = cursor_read_string(&cursor);
        const struct known *known = table_get(&reader->known, name);
        if (known == NULL) {
            reader->unknown++;
            continue;
        }
        fields[index].size = known->is_fixed ? known->size : 0;
        fields[index].index = index;
    }
    // What is left belongs to the next one.
    reader->rest = cursor_remaining(&cursor);
    reader->statistics.headers++;
    return reader_add(reader, kind, fields, count);
}
";

const GO: &str = "
// ReadHeader@ reads the header number @ and what follows it.
func (r *Reader) ReadHeader@(input []byte, options Options) (*Header, error) {
	cursor := newCursor(input)
	kind, err := cursor.ReadU16()
	if err != nil || kind != kind@ {
		return nil, fmt.Errorf(\"unexpected kind %d at %d\", kind, cursor.Position())
	}
	length := int(cursor.MustU16())
	fields := make([]Field, 0, length)
	for index := 0; index < length; index++ {
		known, ok := r.known[cursor.ReadString()]
		switch {
		case !ok:
			r.unknown++
		case known.isFixed:
			fields = append(fields, Field{Index: index, Size: known.size})
		default:
			fields = append(fields, Field{Index: index})
		}
	}
	// What is left belongs to the next one.
	rest := cursor.Remaining()
	r.statistics.headers++
	return &Header{Kind: kind, Fields: fields, Rest: rest}, nil
}
";

const JAVA: &str = "
    /** Reads the header number @ and what follows it. */
    public Header readHeader@(byte[] input, Options options) throws IOException {
        Cursor cursor = new Cursor(input);
        int kind = cursor.readU16();
        if (kind != KIND_@) {
            throw new UnexpectedKindException(kind, cursor.position());
        }
        int length = cursor.readU16();
        List<Field> fields = new ArrayList<>(length);
        for (int index = 0; index < length; index++) {
            Known known = this.known.get(cursor.readString());
            if (known == null) {
                this.unknown += 1;
                continue;
            }
            fields.add(known.isFixed() ? Field.fixed(index, known.size()) : Field.of(index, known));
        }
        // What is left belongs to the next one.
        byte[] rest = cursor.remaining();
        this.statistics.headers += 1;
        if (fields.isEmpty() && options.strict()) {
            throw new IOException(\"nothing in \" + kind);
        }
        return new Header(kind, fields, rest);
    }
";

struct Case {
    file: &'static str,
    language: Language,
    before: &'static str,
    function: &'static str,
    after: &'static str,
}

fn cases() -> [Case; 7] {
    [
        Case {
            file: "a.rs",
            language: tree_sitter_rust::LANGUAGE.into(),
            before: "impl Reader {",
            function: RUST,
            after: "}\n",
        },
        Case {
            file: "a.py",
            language: tree_sitter_python::LANGUAGE.into(),
            before: "class Reader:",
            function: PYTHON,
            after: "",
        },
        Case {
            file: "a.ts",
            language: tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            before: "export class Reader {",
            function: TYPESCRIPT,
            after: "}\n",
        },
        Case {
            file: "a.js",
            language: tree_sitter_javascript::LANGUAGE.into(),
            before: "export class Reader {",
            function: JAVASCRIPT,
            after: "}\n",
        },
        Case {
            file: "a.go",
            language: tree_sitter_go::LANGUAGE.into(),
            before: "package a\n",
            function: GO,
            after: "",
        },
        Case {
            file: "a.java",
            language: tree_sitter_java::LANGUAGE.into(),
            before: "class Reader {",
            function: JAVA,
            after: "}\n",
        },
        Case { file: "a.c", language: tree_sitter_c::LANGUAGE.into(), before: "", function: C, after: "" },
    ]
}

pub(crate) fn measure() {
    let tree = Path::new(env!("CARGO_TARGET_TMPDIR")).join("search-outline");
    fs::create_dir_all(&tree).unwrap();
    let tools = Tools::over(&tree, SearchOptions::default());
    println!("200 symbols of a file of 5,000 lines, beside the bare parse of the same bytes");
    println!("{:<36} {:>9} {:>9} {:>7} {:>7}", "", "haft", "parse", "ratio", "target");
    for case in cases() {
        let mut text = case.before.to_owned();
        for number in 0..FUNCTIONS {
            text.push_str(&case.function.replace('@', &number.to_string()));
        }
        text.push_str(case.after);
        fs::write(tree.join(case.file), &text).unwrap();
        let name = format!("{}, {} lines, {} KiB", case.file, text.lines().count(), text.len() >> 10);
        row(&tools, &name, &case.language, text.as_bytes(), &json!({ "path": case.file, "limit": 200 }));
    }
    println!();
    named(&tools, &tree);
    large(&tools, &tree);
}

/// Outlines the files that `HAFT_BENCH_SOURCES` names, such as large sources of other projects.
fn named(tools: &Tools, tree: &Path) {
    let files = env::var_os("HAFT_BENCH_SOURCES").unwrap_or_default();
    let files = env::split_paths(&files).filter(|file| !file.as_os_str().is_empty());
    for (number, file) in files.enumerate() {
        let text = fs::read(&file).unwrap();
        let extension = file.extension().and_then(OsStr::to_str).unwrap_or_default();
        let Some(language) = language(extension, &text) else {
            println!("{}: no language is known of it", file.display());
            continue;
        };
        let name = format!("named-{number}.{extension}");
        fs::write(tree.join(&name), &text).unwrap();
        let own = file.file_name().unwrap_or_default().to_string_lossy();
        let lines = text.split(|byte| *byte == b'\n').count() - 1;
        let row = format!("{own}, {lines} lines, {} KiB", text.len() >> 10);
        measure_one(tools, &row, &language, &text, &json!({ "path": name, "limit": 200 }));
    }
    println!();
}

fn language(extension: &str, text: &[u8]) -> Option<Language> {
    Some(match extension {
        "rs" => tree_sitter_rust::LANGUAGE.into(),
        "py" => tree_sitter_python::LANGUAGE.into(),
        "js" => tree_sitter_javascript::LANGUAGE.into(),
        "ts" => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        "go" => tree_sitter_go::LANGUAGE.into(),
        "java" => tree_sitter_java::LANGUAGE.into(),
        "h" if text.windows(5).any(|bytes| bytes == b"class") => tree_sitter_cpp::LANGUAGE.into(),
        "cpp" | "cc" | "hpp" => tree_sitter_cpp::LANGUAGE.into(),
        "c" | "h" => tree_sitter_c::LANGUAGE.into(),
        _ => return None,
    })
}

fn row(tools: &Tools, name: &str, language: &Language, text: &[u8], input: &Value) {
    let reply = tools.call("outline", input);
    assert_eq!(reply.output.details["symbols"], 200, "{}", reply.output.to_text());
    measure_one(tools, name, language, text, input);
}

fn measure_one(tools: &Tools, name: &str, language: &Language, text: &[u8], input: &Value) {
    let (mut ours, mut floor) = (Duration::MAX, Duration::MAX);
    for _ in 0..TIMES {
        floor = floor.min(took(|| parse(language, text)));
        ours = ours.min(took(|| tools.call("outline", input)));
    }
    let ratio = ours.as_secs_f64() / floor.as_secs_f64();
    let missed = if ours > TARGET { " (missed)" } else { "" };
    println!("{name:<36} {ours:>9.2?} {floor:>9.2?} {ratio:>6.2}× {TARGET:>7.0?}{missed}");
}

/// Outlines a file as large as any that is, and says how much memory the process came to hold.
fn large(tools: &Tools, tree: &Path) {
    let mut text = String::from("impl Reader {");
    for number in 0.. {
        let function = RUST.replace('@', &number.to_string());
        if text.len() + function.len() + 2 > 4 << 20 {
            break;
        }
        text.push_str(&function);
    }
    text.push_str("}\n");
    fs::write(tree.join("large.rs"), &text).unwrap();
    let before = held();
    let took = took(|| tools.call("outline", &json!({ "path": "large.rs" })));
    let mut line = format!("a file of {} KiB: {took:.0?}", text.len() >> 10);
    if let (Some(before), Some(after)) = (before, held()) {
        // Writing to a string cannot fail.
        let _ = write!(line, ", and {} MiB more than before at most", (after - before) >> 10);
    }
    println!("{line}");
}

/// The most memory that the process has held so far, in KiB; nothing where the system does not say.
fn held() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn parse(language: &Language, text: &[u8]) -> usize {
    let mut parser = Parser::new();
    parser.set_language(language).unwrap();
    parser.parse(text, None).unwrap().root_node().end_byte()
}

fn took<T>(work: impl FnOnce() -> T) -> Duration {
    let started = Instant::now();
    black_box(work());
    started.elapsed()
}
