//! Transcripts: text files of commands and what they print. `scripts/test_transcripts.py` follows them, and says what their lines mean.

use crate::python::follow_script;
use crate::running::new_app;

macro_rules! transcripts {
    ($($file:ident)*) => {
        $(
            #[test]
            fn $file() {
                follow(stringify!($file), include_str!(concat!("transcripts/", stringify!($file), ".txt")));
            }
        )*
    };
}

transcripts!(adopt basics check clock collective doctor emulate experiment files load_sweep processes refusals report repository rig sim view);

/// Follows all cases of a file, with the images that it needs.
fn follow(file: &str, text: &str) {
    let mut variables = vec![("HOPWISE_TRANSCRIPT", file.to_string())];
    if text.contains("\nneeds test image") {
        let image = crate::emulator_support::elf();
        variables.extend(image.map(|path| ("HOPWISE_TEST_EMULATOR_IMAGE", path.display().to_string())));
    }
    if text.contains("\nneeds app") {
        variables.extend(new_app().map(|app| ("HOPWISE_TEST_APP", app.folder.display().to_string())));
    }
    follow_script("transcripts", &variables);
}
