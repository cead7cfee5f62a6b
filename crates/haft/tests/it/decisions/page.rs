/// A page with tables whose first column says what is asked about.
pub(super) struct Page<'a> {
    lines: Vec<&'a str>,
}

/// What stands below one heading, as far as it decides.
#[derive(Default)]
pub(super) struct Section {
    pub(super) title: String,
    /// The policy files of the section, each with its layer.
    pub(super) policies: Vec<(String, String)>,
}

impl<'a> Page<'a> {
    pub(super) fn parse(text: &'a str) -> Self {
        Self { lines: text.lines().collect() }
    }

    /// Writes the page with all cells anew; a table counts if its first heading is `Asked`.
    ///
    /// A block `toml LAYER` is a policy file of the section it stands in. The table headed `Protected` has the given rows.
    pub(super) fn filled(
        &self,
        protected: &[String],
        cell: impl Fn(&Section, &str, &str) -> String,
    ) -> String {
        let mut page = String::new();
        let mut section = Section::default();
        let mut columns: Vec<String> = Vec::new();
        let mut lines = self.lines.iter().copied().peekable();
        while let Some(line) = lines.next() {
            page += line;
            if let Some(title) = line.strip_prefix("## ") {
                section = Section { title: title.to_owned(), ..Section::default() };
            }
            if let Some(layer) = line.strip_prefix("```toml ") {
                let mut text = String::new();
                for line in lines.by_ref() {
                    page += "\n";
                    page += line;
                    if line == "```" {
                        break;
                    }
                    text += line;
                    text += "\n";
                }
                section.policies.push((layer.to_owned(), text));
            }
            match cells(line) {
                None => columns.clear(),
                Some(cells) if cells[0] == "Asked" => {
                    columns = cells[1..].iter().map(|cell| bare(cell)).collect();
                }
                Some(cells) if cells[0] == "Protected" => {
                    let separator = lines.next().unwrap_or_default();
                    while lines.next_if(|line| line.starts_with('|')).is_some() {}
                    page.extend(["\n", separator]);
                    page.extend(protected.iter().flat_map(|row| ["\n", row]));
                }
                Some(cells) if columns.is_empty() || cells[0].starts_with("---") => {}
                Some(cells) => {
                    let subject = bare(&cells[0]).replace("\\|", "|");
                    page.truncate(page.len() - line.len());
                    page.extend(["| ", &cells[0], " |"]);
                    for column in &columns {
                        page.extend([" ", &cell(&section, column, &subject), " |"]);
                    }
                }
            }
            page += "\n";
        }
        page
    }
}

/// Splits a row of a table; a `\|` is part of a cell.
fn cells(line: &str) -> Option<Vec<String>> {
    let inner = line.strip_prefix("| ").or_else(|| line.strip_prefix('|'))?;
    let mut cells = vec![String::new()];
    let mut escaped = false;
    for character in inner.chars() {
        if character == '|' && !escaped {
            cells.push(String::new());
        } else if let Some(cell) = cells.last_mut() {
            cell.push(character);
        }
        escaped = character == '\\';
    }
    cells.pop().filter(|rest| rest.trim().is_empty())?;
    Some(cells.into_iter().map(|cell| cell.trim().to_owned()).collect())
}

/// Takes the backticks from a cell that is code; code with backticks in it has two around it.
fn bare(cell: &str) -> String {
    let inner = |fence: &str| cell.strip_prefix(fence).and_then(|cell| cell.strip_suffix(fence));
    inner("``").or_else(|| inner("`")).unwrap_or(cell).trim().to_owned()
}

/// Writes a text as code in a cell.
pub(super) fn code(text: &str) -> String {
    let text = text.replace('|', "\\|");
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}
