//! Figures as every report prints them.
