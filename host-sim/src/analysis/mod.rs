pub mod graph; pub mod distances;
