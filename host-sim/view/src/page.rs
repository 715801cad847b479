//! The page itself.

use super::data::PageData;
use hopwise_load::plot::escape;
use hopwise_networks::refusal::Refusal;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
/// In the order in which they need each other.
const SCRIPTS: [&str; 6] = [
    include_str!("page/model.js"),
    include_str!("page/camera.js"),
    include_str!("page/drawing.js"),
    include_str!("page/timeline.js"),
    include_str!("page/panel.js"),
    include_str!("page/main.js"),
];

/// The page as HTML, complete.
pub fn html(data: &PageData) -> Result<String, Refusal> {
    let json = serde_json::to_string(data).map_err(|error| Refusal::Output(error.to_string()))?;
    // Within a script, no text may end it.
    let json = json.replace('<', "\\u003c");
    let parts = [
        ("TITLE", escape(&data.network)),
        ("STYLE", STYLE.to_string()),
        ("SCRIPT", SCRIPTS.concat()),
        // Last, so that nothing in a trace is taken for a place to fill.
        ("DATA", json),
    ];
    Ok(parts.iter().fold(PAGE.to_string(), |page, (name, text)| {
        page.replacen(&format!("<!--{name}-->"), text, 1)
    }))
}
