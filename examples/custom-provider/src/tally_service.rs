//! The other end of the wire: a model that can add, or rather, that knows who can.

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};

/// Reads one request and answers it.
pub(crate) async fn serve(stream: DuplexStream) {
    let mut stream = BufReader::new(stream);
    let mut request = Vec::new();
    loop {
        let mut line = String::new();
        match stream.read_line(&mut line).await {
            Ok(read) if read > 1 => request.push(line.trim_end().to_owned()),
            Ok(1) => break,
            // Whoever asked is gone.
            _ => return,
        }
    }
    // Where nobody listens any more, nothing is lost.
    let _ = stream.write_all(answer(&request).as_bytes()).await;
}

fn answer(request: &[String]) -> String {
    let last = request.last().map_or("", String::as_str);
    let has_tools = request.iter().any(|line| line == "tool sum");
    if last.contains("Hang up") {
        return "say It makes\n".to_owned();
    }
    if last.contains("Mumble") {
        return "say It makes\nhm\nend done\n".to_owned();
    }
    let replied = request.iter().rev().find_map(|line| line.strip_prefix("reply "));
    match replied {
        Some(sum) if has_tools => format!("say They make {}.\ncost 40 6\nend done\n", sum.trim_matches('"')),
        Some(sum) => {
            format!("say No turn is left; they make {}.\ncost 40 9\nend done\n", sum.trim_matches('"'))
        }
        None if has_tools => {
            let numbers: Vec<&str> =
                last.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty()).collect();
            let numbers = numbers.join(",");
            format!(
                "think There is a tool for that.\ncall 0 c1 sum\nwith 0 {{\"numbers\":\nwith 0 [{numbers}]}}\ncost 20 12\n\
                 end calls\n"
            )
        }
        None => "say I cannot add without the tool.\ncost 20 8\nend done\n".to_owned(),
    }
}
