//! Line charts as SVG.

use std::fmt::Write;

use hopwise_figures::{decimal, escape};

/// A line of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// The points, by rising x.
    pub points: Vec<(f64, f64)>,
    pub dashed: bool,
    /// Which color, counted from 0; lines that belong together share one.
    pub color: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    pub title: String,
    pub x_label: String,
    pub y_label: String,
    /// The end of the upward axis; lines are cut off there.
    pub y_end: f64,
    pub series: Vec<Series>,
}

/// Told apart by people who see few colors too: the palette of Okabe and Ito, 2008, darkened where it is pale.
const COLORS: [&str; 8] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#444444", "#8b4513",
];

const WIDTH: f64 = 760.0;
const PLOT_HEIGHT: f64 = 360.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 40.0;
const BELOW: f64 = 52.0;
const LEGEND_LINE: f64 = 20.0;
const LEGEND_COLUMNS: usize = 2;

impl Chart {
    fn x_end(&self) -> f64 {
        let points = self.series.iter().flat_map(|series| &series.points);
        let most = points.map(|point| point.0).fold(0.0, f64::max);
        if most > 0.0 { most * 1.03 } else { 1.0 }
    }

    pub fn svg(&self) -> String {
        let legend = self.series.len().div_ceil(LEGEND_COLUMNS) as f64 * LEGEND_LINE;
        let height = TOP + PLOT_HEIGHT + BELOW + legend + 10.0;
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = write!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
             font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
             <text x=\"{}\" y=\"24\" text-anchor=\"middle\" font-size=\"16\">{}</text>\n",
            WIDTH / 2.0,
            escape(&self.title)
        );
        self.axes(&mut out);
        for series in &self.series {
            self.line(&mut out, series);
        }
        self.legend(&mut out);
        out.push_str("</svg>\n");
        out
    }

    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let across = LEFT + x / self.x_end() * (WIDTH - LEFT - RIGHT);
        (across, TOP + PLOT_HEIGHT * (1.0 - y / self.y_end))
    }

    fn axes(&self, out: &mut String) {
        let (left, bottom) = self.place((0.0, 0.0));
        let right = WIDTH - RIGHT;
        for y in ticks(self.y_end) {
            let (_, at) = self.place((0.0, y));
            let _ = writeln!(
                out,
                "<line x1=\"{left}\" y1=\"{at:.1}\" x2=\"{right}\" y2=\"{at:.1}\" stroke=\"#ddd\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left - 6.0,
                at + 4.0,
                decimal(y, 4)
            );
        }
        for x in ticks(self.x_end()) {
            let (at, _) = self.place((x, 0.0));
            let _ = writeln!(
                out,
                "<line x1=\"{at:.1}\" y1=\"{bottom}\" x2=\"{at:.1}\" y2=\"{}\" stroke=\"#444\"/>\
                 <text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                bottom + 5.0,
                bottom + 20.0,
                decimal(x, 4)
            );
        }
        let _ = write!(
            out,
            "<path d=\"M{left} {TOP}V{bottom}H{right}\" fill=\"none\" stroke=\"#444\"/>\n\
             <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n\
             <text transform=\"translate(18 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
            f64::midpoint(left, right),
            bottom + 42.0,
            escape(&self.x_label),
            TOP + PLOT_HEIGHT / 2.0,
            escape(&self.y_label)
        );
    }

    fn line(&self, out: &mut String, series: &Series) {
        let mut path = String::new();
        let mut before: Option<(f64, f64)> = None;
        let mut marks = String::new();
        let color = COLORS[series.color % COLORS.len()];
        for &point in &series.points {
            if point.1 > self.y_end {
                // Up to the edge, where the line leaves the chart.
                if let Some(last) = before {
                    let share = (self.y_end - last.1) / (point.1 - last.1);
                    let (x, y) = self.place((last.0 + share * (point.0 - last.0), self.y_end));
                    let _ = write!(path, "L{x:.1} {y:.1}");
                }
                break;
            }
            let (x, y) = self.place(point);
            let _ = write!(path, "{}{x:.1} {y:.1}", if before.is_none() { 'M' } else { 'L' });
            let mark = format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\" fill=\"{color}\"/>");
            marks.push_str(&mark);
            before = Some(point);
        }
        let dash = if series.dashed { " stroke-dasharray=\"6 4\"" } else { "" };
        let _ = writeln!(
            out,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"{dash}/>{marks}"
        );
    }

    fn legend(&self, out: &mut String) {
        let top = TOP + PLOT_HEIGHT + BELOW + 10.0;
        let column = (WIDTH - LEFT - RIGHT) / LEGEND_COLUMNS as f64;
        for (index, series) in self.series.iter().enumerate() {
            let x = LEFT + (index % LEGEND_COLUMNS) as f64 * column;
            let y = top + (index / LEGEND_COLUMNS) as f64 * LEGEND_LINE;
            let dash = if series.dashed { " stroke-dasharray=\"6 4\"" } else { "" };
            let _ = writeln!(
                out,
                "<line x1=\"{x}\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\" stroke=\"{}\" stroke-width=\"2\"{dash}/>\
                 <text x=\"{}\" y=\"{}\">{}</text>",
                x + 28.0,
                COLORS[series.color % COLORS.len()],
                x + 36.0,
                y + 4.0,
                escape(&series.name)
            );
        }
    }
}

/// Round numbers from 0 to the end, four to ten of them.
fn ticks(end: f64) -> impl Iterator<Item = f64> {
    let power = 10f64.powf(end.log10().floor() - 1.0);
    let mut steps = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0].into_iter().map(|s| s * power);
    let step = steps.find(|s| end / s <= 10.0).unwrap_or(end);
    let ticks = (0..=10).map(move |i| f64::from(i) * step);
    ticks.take_while(move |&tick| tick <= end * 1.0001)
}
