//! Experiments: many runs from one file, in this process or shared by many.
//!
//! A [plan](plan::Plan) is a TOML file of settings with all their values. Every combination of them is a [job](Job) of some
//! [kind](Kind): a simulation, a load, or whatever else a program plugs in. A [folder](folder::Folder) holds the jobs by number
//! and what each found; processes that [share](share::Share) them can be killed and started again at any time.
//!
//! ```
//! use hopwise_experiment::folder::Folder;
//! use hopwise_experiment::load::Load;
//! use hopwise_experiment::plan::Plan;
//! use hopwise_experiment::results::Results;
//!
//! let plan = Plan::parse(
//!     "networks = ['ring(5)', 'petersen']\nseeds = 2\n[load]\nrate = [0.05, 0.1]\nmost-cycles = 2048\n",
//!     &[&Load],
//! )?;
//! let path = std::env::temp_dir().join(format!("hopwise-jobs-of-{}", std::process::id()));
//! let folder = Folder::create(&path, plan.jobs()?, &[&Load], false)?;
//! folder.work_all(&[0, 1, 2, 3, 4, 5, 6, 7], |_| ())?;
//! let results = Results::of(&folder.findings()?);
//! assert!(results.figures.iter().any(|figure| figure.figure == "latency_mean" && figure.seeds == 2));
//! # std::fs::remove_dir_all(path)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`plan`]: the file; [`folder`]: the jobs and their results; [`share`]: which of them are whose;
//! - [`load`], [`sim`]: the kinds of jobs that are always there;
//! - [`results`]: figures over all seeds; [`page`]: what a browser shows of them; [`archive`]: all in one file.

pub mod archive;
pub mod folder;
mod job;
pub mod load;
pub mod page;
pub mod plan;
pub mod results;
pub mod share;
pub mod sim;

pub use job::{Finding, Job, Kind, Refused, origin};
