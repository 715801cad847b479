//! The page itself.

use hopwise_figures::escape;

use super::data::PageData;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
/// In the order in which they need each other.
const SCRIPTS: [&str; 10] = [
    include_str!("page/elements.js"),
    include_str!("page/model.js"),
    include_str!("page/camera.js"),
    include_str!("page/shapes.js"),
    include_str!("page/drawing.js"),
    include_str!("page/timeline.js"),
    include_str!("page/panel.js"),
    include_str!("page/wiring.js"),
    include_str!("page/main.js"),
    include_str!("page/rounds.js"),
];

pub fn html(data: &PageData) -> String {
    let json = serde_json::to_string(data).expect("the data has text for keys and no failing parts");
    // Within a script, no text may end it.
    let json = json.replace('<', "\\u003c");
    let parts = [
        ("TITLE", escape(&data.drawn.network)),
        ("STYLE", STYLE.to_string()),
        ("SCRIPT", SCRIPTS.concat()),
        // Last, so that nothing in a trace is taken for a place to fill.
        ("DATA", json),
    ];
    parts.iter().fold(PAGE.to_string(), |page, (name, text)| {
        page.replacen(&format!("<!--{name}-->"), text, 1)
    })
}
