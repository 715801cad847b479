//! What networks answer, all of it, as one number for each expression: in whatever width they compute.
//!
//! The numbers are the same with the feature `huge-networks` and without it, as on a board:
//! `cargo test -p hopwise-core --no-default-features --features all-networks`.

use hopwise_core::{Network, Rule, Tree};

/// Networks of every family and base graph, and the hash of what they answer.
const EXPRESSIONS: &[(&str, u64)] = &[
    ("ring(7)", 0xd3d5_233e_4750_6896),
    ("path(5)", 0xc5b4_bfd7_10e6_2d44),
    ("complete(6)", 0x50d7_39b5_5e1d_6364),
    ("star(6)", 0x36b0_9475_6d97_26b3),
    ("hypercube(4)", 0x063e_eb8c_aaf5_071d),
    ("folded-hypercube(4)", 0x16da_5704_93c2_5225),
    ("torus(4,3)", 0x7af6_0599_ce82_f209),
    ("mesh(3,3,2)", 0xd494_cf88_7c73_e5d2),
    ("ghc(3,2,2)", 0x58a6_ae6f_f587_a2e2),
    ("nstar(4)", 0x980b_bf2a_ec5c_ed98),
    ("petersen", 0xa954_8de8_4937_fce4),
    ("heawood", 0x7b8c_a54d_3fe4_1c5b),
    ("rdn(ring(3),1)", 0xc950_bc89_c9eb_9235),
    ("rdn(path(2),2)", 0xc12c_de29_b929_a5fe),
    ("dualcube(3)", 0x0c8d_a1ce_454f_1642),
    ("bsw(complete(4))", 0x3f18_b073_f23d_7904),
    ("re(ring(3),complete(3),1)", 0x7edb_6c34_0059_a2fe),
    ("re(ring(3),ring(3),1)", 0x683e_a57c_56cf_d2d1),
    ("re(ring(4),complete(3),3)", 0xf418_d1f3_1414_e573),
    ("re([ring(3),path(2),complete(3)],petersen)", 0x5d2e_b534_9374_9574),
    ("re(ring(4),ring(5),3,sd)", 0x4f8c_8f15_65d1_f5e1),
    ("re(path(2),ring(40),2)", 0xe063_e6f7_830b_bc51),
    ("re-heawood-2(2)", 0x8b85_8f98_a58d_3d93),
    ("re-heawood-2(2,one)", 0x8db7_122b_3ee5_0b17),
    ("rcr(2,2,1)", 0xe805_233a_4e77_16d8),
    ("rcr(1,7,4)", 0x5197_5192_a9e8_493b),
    ("cor(2,3)", 0x4647_90e5_7257_a1b5),
    ("ccc(4)", 0x2d1a_ad8c_00ec_5929),
    ("wk(4,3)", 0x03a7_84be_7822_cbfd),
    ("symmetric-hypernet(3,2)", 0xb3cd_9e8e_ff4a_81ef),
    ("hypernet(3,3)", 0x8210_8b7d_5cef_463f),
    ("hypernet(2,5)", 0x5ea9_3ed3_7b9b_3499),
    ("exchanged-hypercube(2,3)", 0x61c1_5f7d_3327_3064),
    ("folded(ring(3),3)", 0x642f_5fc8_c2b0_85e3),
    ("root-folded(ring(4),3)", 0xea9d_cd22_554d_fa5f),
    ("flooded(petersen,2)", 0xb49c_2b85_e8ab_6e03),
    ("rsn(2,hypercube(2))", 0xea41_da4b_810f_b02f),
    ("rsn(3,path(2))", 0xff34_5f60_6559_e616),
    ("rsn(2,hypercube(3),diameter)", 0x95e0_3bb7_3901_e32f),
    ("hcn(3)", 0x0766_413d_75c4_bf64),
    ("hfn(3)", 0x8d80_1eea_9ed8_f5b2),
    ("hsn(3,ring(4))", 0xc6cb_3a96_d9f7_13f0),
    ("hcn3(2)", 0x9413_3122_d58c_6de2),
    ("partial-swapped", 0x569b_6e72_7487_e36e),
    ("rdn(torus(5,5),1)", 0xc13b_6137_9a95_a0fb),
    ("rdn(ring(5),2)", 0x3490_4991_4d05_2128),
    ("rdn(star(4),2)", 0xbb64_5183_efc9_32c1),
    ("rdn(nstar(3),2)", 0x6a03_082d_b2e5_a6ba),
    ("re(ring(4),ring(4),4)", 0xa10e_894f_a79c_22b2),
    ("re(heawood,heawood,2)", 0x4ac7_f0b8_6d60_d2e5),
    ("re(path(3),path(5),6)", 0x7c66_4108_cc47_4639),
    ("re(star(4),star(5),4)", 0x7709_1153_aacf_b1d8),
    ("re(complete(3),ring(7),9)", 0x12fa_b7a0_8c5a_91e6),
    ("re(mesh(3,2),hypercube(3),5)", 0xa64f_988f_f95b_dc2b),
    ("re(torus(3,3),torus(3,3),2,sd)", 0x56fb_e894_82bd_1e9a),
    ("re-heawood-2(4)", 0x754b_03de_e4dc_5920),
    ("re-heawood-2(3,one)", 0x804e_00a8_2619_8288),
    ("rcr(2,5,3)", 0x3b2c_21d0_ce47_a77d),
    ("rcr(4,20,15)", 0x6da0_c6b9_a23c_07f8),
    ("rcr(3,1,0)", 0xa7c8_c672_1afc_1720),
    ("rcr(0,9,0)", 0x5cb7_1ddc_f740_a2ca),
    ("rcr(1,40,7)", 0x4165_3be1_98ac_259a),
    ("rcr(2,11,9)", 0xbbb4_7969_ddd7_2bf1),
    ("wk(3,6)", 0xdf12_c474_3571_b8ef),
    ("wk(5,4)", 0x0c61_a03f_a6fa_1e27),
    ("wk(2,9)", 0xe4e3_139c_b4d2_34e3),
    ("symmetric-hypernet(2,5)", 0x2b5c_d374_f118_49a0),
    ("symmetric-hypernet(4,3)", 0xe0ea_ee76_1745_8c95),
    ("hypernet(3,4)", 0x975c_5688_1409_6a02),
    ("hypernet(4,3)", 0x1655_9123_c54b_8b39),
    ("hypernet(2,9)", 0x850e_f333_9ea3_7332),
    ("hypernet(3,5)", 0x8cdf_ae52_b458_009c),
    ("exchanged-hypercube(4,5)", 0xcfa7_05f3_51a5_8779),
    ("folded(petersen,3)", 0x53e1_2742_6328_9da2),
    ("flooded(ring(5),4)", 0x65a9_c3cc_74c2_264e),
    ("rsn(4,path(2))", 0x0cc9_5460_542f_6be6),
    ("rsn(3,hypercube(2),diameter)", 0x60ee_c8b1_56b9_4f98),
    ("rsn(2,star(9),diameter)", 0xaeb5_157b_8657_9fe7),
    ("rsn(2,petersen,diameter)", 0x5c9d_1dd1_d817_c92a),
    ("rsn(3,ring(5),diameter)", 0x6684_b7cd_a74c_9b6e),
    ("rsn(2,mesh(3,4),diameter)", 0x60ac_b2a0_8b2f_9c0d),
    ("hfn(5)", 0x424e_0878_a4e0_143a),
    ("hcn(5)", 0x011f_779e_e4b0_4edb),
    ("hsn(5,complete(4))", 0x0e7a_0e67_942d_b401),
    ("hsn(10,path(2))", 0x2791_79b1_1807_51c8),
    ("hsn(4,petersen)", 0xd524_0a2f_e4d5_4bf5),
    ("hcn3(4)", 0xc71d_c91e_f01c_2f87),
];

/// All pairs up to so many nodes; of larger networks, as many evenly spread nodes.
const NODES: u64 = 40;

/// FNV-1a, a number at a time.
struct Hash(u64);

impl Hash {
    fn add(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x0000_0100_0000_01b3);
    }

    fn add_text(&mut self, text: &str) {
        text.bytes().for_each(|byte| self.add(byte.into()));
    }
}

/// Over the neighbours and addresses of all nodes, and the next hops, methods, distances and broadcast children of all pairs.
fn answers(network: &Network) -> u64 {
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    let step = network.nodes().div_ceil(NODES) as usize;
    let nodes = || (0..network.nodes()).step_by(step);
    hash.add(network.nodes());
    hash.add(network.id().into());
    for rule in [Rule::Exact, Rule::Paper] {
        hash.add(network.longest_route(rule));
    }
    for here in nodes() {
        hash.add_text(&network.address(here).unwrap().to_string());
        for (port, node) in network.neighbors(here).unwrap().enumerate() {
            hash.add(node);
            assert_eq!(network.neighbor(here, port as u64), Ok(Some(node)), "{network}: {here}");
            assert_eq!(network.port_to(here, node), Ok(Some(port as u64)), "{network}: {here}");
        }
        for there in nodes() {
            for rule in [Rule::Exact, Rule::Paper] {
                hash.add(network.next_hop(here, there, rule).unwrap());
                hash.add_text(&format!("{:?}", network.method(here, there, rule).unwrap()));
            }
            hash.add(network.distance(here, there).unwrap().unwrap_or(u64::MAX));
            for tree in [Tree::LeastDepth, Tree::FewestSteps] {
                for (port, node) in network.fanout_by(here, there, tree).unwrap() {
                    hash.add(port);
                    hash.add(node);
                }
            }
        }
    }
    hash.0
}

#[test]
fn networks_answer_as_ever() {
    let mut changed = Vec::new();
    for &(expression, expected) in EXPRESSIONS {
        let network: Network = expression.parse().unwrap();
        let found = answers(&network);
        if found != expected {
            changed.push(format!("    (\"{expression}\", 0x{found:016x}),"));
        }
    }
    assert!(changed.is_empty(), "these changed:\n{}", changed.join("\n"));
}
