//! Errors on boards, which do not tell what is wrong: `cargo test -p hopwise-core --no-default-features --features rdn --test without_reasons`.
#![cfg(not(feature = "reasons"))]

use hopwise_core::Network;

#[test]
fn an_error_says_whether_a_family_is_left_out_and_no_more() {
    let error = |text: &str| text.parse::<Network>().unwrap_err().to_string();
    let no_network = error("");
    for text in ["ring(2)", "ring(4", "rdn(ring(3),1) 7", "nothing(3)"] {
        assert_eq!(error(text), no_network, "{text}");
    }
    #[cfg(not(feature = "all-networks"))]
    assert_ne!(error("hsn(ring(3),2)"), no_network);
    assert!("rdn(ring(3),1)".parse::<Network>().is_ok());
}
