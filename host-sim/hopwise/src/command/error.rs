//! Why a command cannot be carried out.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::Path;

use hopwise_core::{Network, ParseError};

use super::{advice, hint};

/// The error number, on every system.
const NO_SUCH_FILE: i32 = 2;

/// Bad input, said in one sentence; the exit status is 2. The rooms' errors say their own sentence, so `?` is all they need. What knows
/// too little, as an [`io::Error`] that lacks the path, is given the rest here.
#[derive(Debug)]
pub(super) struct CliError {
    cause: Box<dyn Error + Send + Sync>,
    /// An expression with a caret under the place that is wrong.
    pub(super) caret: Option<String>,
}

impl CliError {
    pub(super) fn new(sentence: impl Display) -> Self {
        CliError::room(sentence.to_string().into())
    }

    pub(super) fn expression(expression: &str, error: &ParseError) -> Self {
        let advice = hint::advice(expression, error);
        CliError {
            caret: hint::caret(expression, error),
            ..CliError::new(format_args!("'{expression}' is not a network: {error}{advice}"))
        }
    }

    pub(super) fn network(network: &Network, reason: impl Display) -> Self {
        CliError::new(format_args!("{network}: {reason}"))
    }

    /// Of a network that is larger than the command takes.
    pub(super) fn too_large(network: &Network, most: u64) -> Self {
        let nodes = network.nodes();
        CliError::new(format_args!(
            "{network} has {nodes} nodes, too many to build out (at most {most})"
        ))
    }

    /// Of a file that cannot be read, or does not hold what it should.
    pub(super) fn file(path: &Path, reason: impl Display) -> Self {
        CliError::new(format_args!("{}: {reason}", path.display()))
    }

    pub(super) fn not_created(path: &Path, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::AlreadyExists => CliError::new(format_args!(
                "{0}: there is something of that name already, which is not overwritten: choose another, or `mv {0} {0}.old`",
                path.display()
            )),
            _ => CliError::output_file(path, error),
        }
    }

    /// Of what cannot be printed or made.
    pub(super) fn output(reason: impl Display) -> Self {
        CliError::new(format_args!("cannot write the output: {reason}"))
    }

    pub(super) fn output_file(path: &Path, error: &io::Error) -> Self {
        CliError::output(format_args!("{}: {error}", path.display()))
    }

    /// The same after the beginning of a sentence.
    pub(super) fn after(self, beginning: impl Display) -> Self {
        CliError {
            cause: format!("{beginning}{}", self.cause).into(),
            ..self
        }
    }

    /// Of a room that says its sentence in any type.
    pub(super) fn room(cause: Box<dyn Error + Send + Sync>) -> Self {
        CliError { cause, caret: None }
    }
}

impl Display for CliError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(sentence) = advice::sentence(&*self.cause) {
            return f.write_str(&sentence);
        }
        let missing = io::Error::from_raw_os_error(NO_SUCH_FILE).to_string();
        let sentence = self.cause.to_string();
        f.write_str(&sentence.replace(&missing, "there is no such file or folder"))
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for CliError {
    fn from(error: E) -> Self {
        CliError::room(error.into())
    }
}

impl From<CliError> for Box<dyn Error + Send + Sync> {
    fn from(error: CliError) -> Self {
        error.cause
    }
}
