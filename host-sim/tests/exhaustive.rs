//! Every promise, on all pairs of many small networks besides the golden ones.

mod audit;

use audit::audit;

#[test]
fn base_graphs() {
    for expression in [
        "ring(3)",
        "ring(4)",
        "ring(8)",
        "path(2)",
        "path(5)",
        "complete(2)",
        "star(2)",
        "hypercube(1)",
        "hypercube(5)",
        "folded-hypercube(2)",
        "folded-hypercube(3)",
        "folded-hypercube(7)",
        "torus(2)",
        "torus(2,2,6)",
        "mesh(2,5,3)",
        "ghc(2,3,4)",
        "nstar(2)",
        "nstar(3)",
        "nstar(5)",
    ] {
        audit(expression);
    }
}

#[test]
fn recursive_dual_nets() {
    for expression in [
        "rdn(ring(3),0)",
        "rdn(ring(4),2)",
        "rdn(ring(6),1)",
        "rdn(complete(2),2)",
        "rdn(path(3),2)",
        "rdn(star(4),1)",
        "rdn(folded-hypercube(3),1)",
        "rdn(torus(4,2),1)",
        "rdn(mesh(3,2),1)",
        "rdn(ghc(3,2),1)",
        "rdn(nstar(3),1)",
        "rdn(nstar(4),1)",
        "rdn(petersen,1)",
        "rdn(torus(4,4),1)",
    ] {
        audit(expression);
    }
}

#[test]
fn recursive_expansions_with_one_pivot() {
    for expression in [
        "re(ring(3),complete(3),1)",
        "re(ring(4),complete(3),5)",
        "re(ring(3),ring(3),6)",
        "re(complete(2),ring(5),7)",
        "re(complete(2),hypercube(3),8)",
        "re(ring(4),path(3),3)",
        "re(path(3),path(4),4)",
        "re(ring(5),star(4),4)",
        "re(star(4),star(5),3)",
        "re(complete(2),complete(2),4)",
        "re(ring(3),petersen,3)",
        "re([mesh(2,3),star(4)],mesh(3,2))",
        "re(complete(4),nstar(3),3)",
        "re(folded-hypercube(2),folded-hypercube(3),2)",
        "re(ghc(2,3),torus(3,3),2)",
        "re(complete(2),complete(4),4)",
    ] {
        audit(expression);
    }
}

#[test]
fn recursive_expansions_with_pivot_sets() {
    for expression in [
        "re(ring(4),ring(8),2,sd)",
        "re(ring(4),ring(4),1,sd)",
        "re(ring(3),ring(4),4,sd)",
        "re(ring(3),complete(3),4,sd)",
        "re(complete(4),ring(6),2,sd)",
        "re(complete(2),ring(4),3,sd)",
        "re(star(4),hypercube(3),2,sd)",
        "re(path(4),mesh(3,2),3,sd)",
        "re([ring(3),complete(4),path(3)],ring(7),sd)",
        "re([petersen,ring(3)],complete(6),sd)",
        "re(heawood,heawood,1,sd)",
    ] {
        audit(expression);
    }
}

#[test]
fn recursive_cubes_of_rings() {
    for expression in [
        "rcr(1,5,4)",
        "rcr(1,6,5)",
        "rcr(2,5,3)",
        "rcr(2,6,4)",
        "rcr(3,4,2)",
        "rcr(3,5,4)",
        "rcr(2,3,1)",
        "rcr(3,7,1)",
        "rcr(4,2,4)",
        "rcr(2,7,3)",
        "rcr(3,2,1)",
        "rcr(1,9,3)",
        "rcr(1,11,4)",
        "rcr(0,2,0)",
        "rcr(2,2,0)",
        "rcr(2,9,1)",
        "rcr(1,8,7)",
    ] {
        audit(expression);
    }
}
