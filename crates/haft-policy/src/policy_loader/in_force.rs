use crate::assembly::Layer;
use crate::file_limits::TOOL_FIELDS;
use crate::loaded_policy::Note;
use crate::source_text::Placed;
use crate::{Profile, SandboxMode};
use haft_tools_core::{Limits, Mode, Selector, ToolLimits, Widths};

/// Holds what the layers so far say once: each overrides those before it, as far as it may.
#[derive(Debug)]
pub(super) struct InForce {
    pub(super) profile: Option<Profile>,
    pub(super) mode: Mode,
    pub(super) sandbox: SandboxMode,
    pub(super) limits: Limits,
    pub(super) widths: Widths,
    /// What was ignored.
    pub(super) notes: Vec<Note>,
}

impl InForce {
    pub(super) fn new(profile: Option<Profile>) -> Self {
        Self {
            profile,
            mode: Mode::default(),
            sandbox: SandboxMode::default(),
            limits: Limits::default(),
            widths: Widths::default(),
            notes: Vec::new(),
        }
    }

    /// Adds a layer; one that is not trusted changes only what it narrows.
    pub(super) fn add(&mut self, layer: &Layer<'_>) {
        let (says, trusted) = (layer.says, layer.is_trusted);
        if let Some(Placed { value: profile, place }) = &says.profile {
            let narrows = self.profile.is_some_and(|in_force| *profile <= in_force);
            if trusted || narrows {
                self.profile = Some(*profile);
            } else {
                let in_force = self.profile.map_or("none".to_owned(), |profile| format!("`{profile}`"));
                self.ignore(&format!("the profile `{profile}`"), &in_force, place);
            }
        }
        if let Some(Placed { value: mode, place }) = &says.mode {
            if trusted || narrows_mode(*mode, self.mode) {
                self.mode = *mode;
            } else {
                self.ignore(&format!("the mode `{mode}`"), &format!("`{}`", self.mode), place);
            }
        }
        if let Some(Placed { value: sandbox, place }) = &says.sandbox {
            if trusted || *sandbox >= self.sandbox {
                self.sandbox = *sandbox;
            } else {
                self.ignore(&format!("the sandbox `{sandbox}`"), &format!("`{}`", self.sandbox), place);
            }
        }
        for Placed { value: setting, place } in &says.limits.settings {
            if trusted || !setting.is_wider_than(&self.limits) {
                self.limits = setting.over(self.limits.clone());
            } else {
                let key = setting.field.key;
                self.ignore(&format!("the limit `{}{key}`", setting.table), "narrower", place);
            }
        }
        for Placed { value: setting, place } in &says.limits.widths {
            if trusted || !setting.is_wider_than(&self.widths) {
                self.widths = setting.over(self.widths.clone());
            } else {
                let key = setting.field.key;
                self.ignore(&format!("the limit `{}{key}`", setting.table), "narrower", place);
            }
        }
    }

    /// Lists the limits of chosen tools, those of the most particular layer first and of what is not trusted last.
    ///
    /// What is not trusted may bound only tools that no other layer has limits for, and only more narrowly than all tools.
    pub(super) fn tool_limits(&mut self, layers: &[Layer<'_>]) -> Vec<(Selector, ToolLimits)> {
        let entries = |trusted: bool| {
            let layers = layers.iter().rev().filter(move |layer| layer.is_trusted == trusted);
            layers.flat_map(|layer| &layer.says.limits.tools)
        };
        let mut all: Vec<_> = entries(true).map(|entry| entry.value.clone()).collect();
        for Placed { value: (tools, limits), place } in entries(false) {
            let mut limits = limits.clone();
            for field in &TOOL_FIELDS {
                if (field.get)(&limits).is_some_and(|amount| amount > (field.of_all)(&self.limits)) {
                    (field.set)(&mut limits, None);
                    self.ignore(&format!("the limit `{}` of `{tools}`", field.key), "narrower", place);
                }
            }
            all.push((tools.clone(), limits));
        }
        all
    }

    fn ignore(&mut self, what: &str, in_force: &str, place: &crate::Place) {
        let text = format!(
            "{what} is ignored, because the file is not trusted and what holds without it is {in_force}"
        );
        self.notes.push(Note::new(text, place.clone()));
    }
}

/// Tells whether a mode lets nothing through that the one in force holds back.
///
/// The mode `deny_unknown` denies all that any other would ask about, so none is narrower.
fn narrows_mode(mode: Mode, in_force: Mode) -> bool {
    mode == in_force || (!mode.is_wider_than(in_force) && in_force != Mode::DenyUnknown)
}
