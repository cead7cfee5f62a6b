/// Words with which a statement starts that reads.
const STARTS: [&str; 6] = ["select", "show", "explain", "describe", "desc", "values"];

/// Words that occur in no statement that certainly only reads.
const REFUSED: [&str; 29] = [
    "alter", "analyze", "attach", "call", "copy", "create", "delete", "detach", "do", "drop", "dumpfile",
    "execute", "exec", "export", "grant", "import", "insert", "install", "into", "load", "lock", "merge",
    "outfile", "pragma", "replace", "revoke", "truncate", "update", "vacuum",
];

/// Functions that compute and do nothing else, in the common dialects.
const FUNCTIONS: [&str; 55] = [
    "abs",
    "avg",
    "cast",
    "ceil",
    "ceiling",
    "char_length",
    "coalesce",
    "concat",
    "concat_ws",
    "count",
    "current_database",
    "current_schema",
    "current_user",
    "database",
    "date",
    "date_format",
    "date_part",
    "date_trunc",
    "datetime",
    "extract",
    "floor",
    "greatest",
    "group_concat",
    "hex",
    "ifnull",
    "iif",
    "instr",
    "json_extract",
    "julianday",
    "least",
    "left",
    "length",
    "lower",
    "ltrim",
    "max",
    "min",
    "mod",
    "now",
    "nullif",
    "pg_database_size",
    "pg_size_pretty",
    "right",
    "round",
    "row_number",
    "rtrim",
    "strftime",
    "string_agg",
    "substr",
    "substring",
    "sum",
    "trim",
    "typeof",
    "upper",
    "user",
    "version",
];

/// Words before a parenthesis that is not that of a call.
const BEFORE_PARENTHESES: [&str; 22] = [
    "all", "and", "any", "as", "by", "case", "distinct", "else", "exists", "from", "having", "in", "join",
    "not", "on", "or", "over", "select", "then", "using", "values", "where",
];

/// Whether a text for a database is one statement that certainly only reads.
///
/// It starts with a word for reading, holds no word for changing and no name before a parenthesis but that of a known
/// function, no command of the client (`\copy`, `.shell`), no comment and no second statement.
pub(in super::super) fn only_reads(text: &str) -> bool {
    let text = text.trim();
    let text = text.strip_suffix(';').unwrap_or(text);
    if text.contains([';', '\\', '`', '#', '$', '@', '[', '{', '/']) || text.contains("--") {
        return false;
    }
    let Some(words) = words(text) else { return false };
    let is_refused = words.iter().any(|word| REFUSED.contains(&word.text.as_str()));
    let calls = words.iter().filter(|word| word.is_before_parenthesis).all(|word| {
        FUNCTIONS.contains(&word.text.as_str()) || BEFORE_PARENTHESES.contains(&word.text.as_str())
    });
    let is_table = |word: &Word| word.is_quoted && matches!(word.before.as_str(), "from" | "join");
    words.first().is_some_and(|word| STARTS.contains(&word.text.as_str()))
        && !is_refused
        && calls
        // A text in the place of a table is a file to some.
        && !words.iter().any(is_table)
}

#[derive(Debug, Default)]
struct Word {
    /// In lower case; of a text in quotes, nothing.
    text: String,
    is_quoted: bool,
    is_before_parenthesis: bool,
    /// The word before it.
    before: String,
}

/// The names, numbers and texts of a statement; `None` where a quote does not end.
fn words(text: &str) -> Option<Vec<Word>> {
    let mut words: Vec<Word> = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let before = words.last().map(|word| word.text.clone()).unwrap_or_default();
        if c.is_alphanumeric() || c == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let text = rest[..end].to_lowercase();
            rest = rest[end..].trim_start();
            words.push(Word { text, is_before_parenthesis: rest.starts_with('('), before, is_quoted: false });
        } else if c == '\'' || c == '"' {
            let end = rest[1..].find(c)? + 1;
            rest = rest[end + 1..].trim_start();
            words.push(Word {
                is_before_parenthesis: rest.starts_with('('),
                before,
                is_quoted: true,
                text: String::new(),
            });
        } else {
            rest = &rest[c.len_utf8()..];
        }
    }
    Some(words)
}
