//! Chromium without a window, spoken to in the DevTools protocol: messages of JSON through a pipe, each ended by a zero byte.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use hopwise_testing::not_tested;
use serde_json::{Value, json};

use crate::support::Folder;

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// A browser that does not respond for so long is stuck.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A page in a browser of its own, which ends with it.
pub(crate) struct Browser {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    calls: u64,
    session: Option<String>,
    pub(crate) errors: Vec<String>,
}

impl Browser {
    /// Starts it; `None` if there is none on this machine, which is said with what is not tested then.
    pub(crate) fn start(folder: &Folder, untested: &str) -> Option<Browser> {
        let installed = |name: &&str| {
            let output = Command::new(name).arg("--version").output();
            output.is_ok_and(|output| output.status.success())
        };
        let Some(name) = NAMES.into_iter().find(installed) else {
            not_tested(&format!("there is no Chromium on this machine: {untested}"));
            return None;
        };
        // The protocol is spoken on the descriptors 3 and 4.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 >/dev/null", "sh", name])
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--window-size=1280,800",
                "--remote-debugging-pipe",
            ])
            .arg(format!("--user-data-dir={}", folder.path("browser")))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (sender, messages) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for message in output.split(0).map_while(Result::ok) {
                let known = serde_json::from_slice(&message).is_ok_and(|message| sender.send(message).is_ok());
                if !known {
                    break;
                }
            }
        });
        let input = child.stdin.take().unwrap();
        Some(Browser {
            child,
            input,
            messages,
            calls: 0,
            session: None,
            errors: Vec::new(),
        })
    }

    /// The next message; errors of the page are kept.
    fn next(&mut self) -> Value {
        let message = self.messages.recv_timeout(TIMEOUT).expect("the browser answers");
        if message["method"] == "Runtime.exceptionThrown" || message["method"] == "Runtime.consoleAPICalled" {
            self.errors.push(message["params"].to_string());
        }
        message
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        self.calls += 1;
        let mut message = json!({"id": self.calls, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        write!(self.input, "{message}\0")
            .and_then(|()| self.input.flush())
            .unwrap();
        loop {
            let response = self.next();
            if response["id"] == self.calls {
                assert_eq!(response["error"], Value::Null, "{method}");
                return response["result"].clone();
            }
        }
    }

    pub(crate) fn open(&mut self, path: &str) {
        let target = self.call("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let attached = self.call("Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        self.session = attached["sessionId"].as_str().map(String::from);
        self.call("Runtime.enable", json!({}));
        self.call("Page.enable", json!({}));
        let is_served = path.starts_with("http:");
        let url = if is_served {
            path.into()
        } else {
            format!("file://{path}")
        };
        self.call("Page.navigate", json!({"url": url}));
        while self.next()["method"] != "Page.loadEventFired" {}
    }

    /// Gives the page a size, as a phone or a large screen has it.
    pub(crate) fn resize(&mut self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    pub(crate) fn press(&mut self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "ArrowRight" => 39,
            "Delete" => 46,
            _ => 32,
        };
        let text = if key == "Enter" { "\r" } else { key };
        let text = if text.len() == 1 { text } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let event = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text});
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    pub(crate) fn print_pages(&mut self) -> u64 {
        let printed = self.call("Page.printToPDF", json!({"printBackground": true}));
        let pdf = printed["data"].as_str().expect("a PDF").to_string();
        let sheets = self.evaluate(&format!("atob('{pdf}').match(/\\/Type \\/Page[^s]/g).length"));
        sheets.as_u64().expect("a number")
    }

    /// What a script in the page comes to; promises are waited for.
    pub(crate) fn evaluate(&mut self, script: &str) -> Value {
        let params = json!({"expression": script, "awaitPromise": true, "returnByValue": true});
        let result = self.call("Runtime.evaluate", params);
        assert_eq!(result["exceptionDetails"], Value::Null);
        result["result"]["value"].clone()
    }

    /// Clicks at a point of the window, which a script in the page computes.
    pub(crate) fn click_at(&mut self, place: &str) {
        self.drag(place, place);
    }

    pub(crate) fn drag(&mut self, from: &str, to: &str) {
        let [from, to] = [from, to].map(|place| self.evaluate(place));
        for (kind, button, place) in [
            ("mouseMoved", "none", &from),
            ("mousePressed", "left", &from),
            ("mouseMoved", "left", &to),
            ("mouseReleased", "left", &to),
        ] {
            let event = json!({"type": kind, "x": place[0], "y": place[1], "button": button, "clickCount": 1});
            self.call("Input.dispatchMouseEvent", event);
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
