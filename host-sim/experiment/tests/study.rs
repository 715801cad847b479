//! The study, on networks small enough for a test: what it says is what its figures say.

use hopwise_experiment::Kind;
use hopwise_experiment::load::Load;
use hopwise_experiment::load::report::{self, Row};
use hopwise_experiment::load::study::{self, Size};
use rayon::prelude::*;

const TINY: [Size; 2] = [
    Size {
        nodes: 9,
        networks: "torus(3,3) hypercube(3) rsn(2,ring(3))",
        rates: &[0.05, 0.9],
    },
    Size {
        nodes: 18,
        networks: "ring(18) rdn(ring(3),1) rcr(1,3,2)",
        rates: &[0.05, 0.9],
    },
];

fn saturation(rows: &[Row], network: &str, rule: &str) -> f64 {
    let is_mine = |row: &&Row| row.network == network && row.rule == rule && row.link_buffers.is_none();
    let mine = rows.iter().filter(is_mine);
    let found: Vec<f64> = mine.filter_map(|row| row.saturation_rate).collect();
    assert_eq!(found.len() as u64, study::SEEDS, "{network}");
    found.iter().sum::<f64>() / found.len() as f64
}

#[test]
fn the_text_holds_what_the_figures_say() {
    let plan = study::plan(&TINY);
    let findings: Vec<_> = plan.par_iter().map(|job| (job, Load.run(job).unwrap())).collect();
    let rows = report::rows(&findings).unwrap();
    let study = study::write(&TINY, &rows);
    assert_eq!(study.charts.len(), TINY.len());
    for ((file, chart), size) in study.charts.iter().zip(&TINY) {
        assert!(study.text.contains(&format!("({file})")), "{file} is not shown");
        // One line a network, and one more where the paper has an order of its own.
        let networks: Vec<&str> = size.networks.split(' ').collect();
        let own = networks.iter().filter(|name| ["rsn", "rcr"].contains(&&name[..3]));
        assert_eq!(chart.series.len(), networks.len() + own.count(), "{file}");
        for network in &networks {
            let found = saturation(&rows, network, "exact");
            let begin = format!("| {network} | exact |");
            let row = study.text.lines().find(|line| line.starts_with(&begin)).unwrap();
            assert!(row.contains(&format!("| {found:.3} |")), "{row}: {found}");
        }
        // The third column of the winners names the network with the highest saturation.
        let by_saturation =
            |a: &&&str, b: &&&str| saturation(&rows, a, "exact").total_cmp(&saturation(&rows, b, "exact"));
        let most = networks.iter().max_by(by_saturation);
        let begin = format!("| {} |", size.nodes);
        let winners = study.text.lines().find(|line| line.starts_with(&begin)).unwrap();
        assert!(winners.split('|').nth(3).unwrap().contains(most.unwrap()), "{winners}");
    }
    assert!(study.text.contains("| rcr(1,3,2) | "), "{}", study.text);
}
