//! HTML pages without scripts, in which all values are escaped.

use axum::http::HeaderName;
use axum::http::header::{
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::response::{IntoResponse, Response};

/// Headers that forbid browsers to run or load anything.
pub(crate) const HEADERS: [(HeaderName, &str); 5] = [
    (CONTENT_TYPE, "text/html;charset=UTF-8"),
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    ),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    (REFERRER_POLICY, "no-referrer"),
];

/// A response with this page.
pub(crate) fn page(text: String) -> Response {
    (HEADERS, text).into_response()
}

/// `text` with HTML's special characters escaped.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// A page that consists of one table.
pub(crate) fn table(title: &str, head: &[&str], rows: &[Vec<String>]) -> Response {
    let cells = |cells: &[String], tag: &str| {
        let cells: Vec<_> =
            cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell))).collect();
        format!("<tr>{}</tr>\n", cells.concat())
    };
    let head: Vec<String> = head.iter().map(ToString::to_string).collect();
    let rows: String = rows.iter().map(|row| cells(row, "td")).collect();
    page(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<title>{title}</title>\n\
         <style>table{{border-collapse:collapse}}td,th{{border:1px solid;padding:.2em}}</style>\n\
         </head>\n<body>\n<table>\n<thead>\n{}</thead>\n<tbody>\n{rows}</tbody>\n</table>\n\
         </body>\n</html>\n",
        cells(&head, "th")
    ))
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn nothing_is_left_that_html_takes_for_its_own() {
        assert_eq!(escaped("<b a='1' c=\"&\">"), "&lt;b a=&#39;1&#39; c=&quot;&amp;&quot;&gt;");
    }
}
