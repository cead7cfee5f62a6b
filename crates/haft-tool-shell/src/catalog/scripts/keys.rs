/// Actions of `fzf` that run nothing, as the word they start with.
const ACTIONS: [&str; 40] = [
    "abort",
    "accept",
    "backward",
    "beginning-of-line",
    "best",
    "cancel",
    "clear",
    "close",
    "deselect",
    "delete-char",
    "disable-search",
    "down",
    "enable-search",
    "end-of-line",
    "exclude",
    "first",
    "forward",
    "half-page",
    "hide",
    "ignore",
    "jump",
    "kill-line",
    "kill-word",
    "last",
    "next",
    "offset",
    "page",
    "prev",
    "preview-bottom",
    "preview-down",
    "preview-half",
    "preview-page",
    "preview-top",
    "preview-up",
    "print-query",
    "refresh",
    "select",
    "show",
    "toggle",
    "up",
];

/// Whether bindings of keys (`ctrl-j:down,enter:toggle+down`) run nothing.
pub(in super::super) fn only_move(bindings: &str) -> bool {
    bindings.split(',').all(|binding| {
        let Some((key, actions)) = binding.split_once(':') else { return false };
        let is_name = |name: &str| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        is_name(key)
            && actions.split('+').all(|action| {
                is_name(action)
                    && ACTIONS.iter().any(|known| {
                        action
                            .strip_prefix(known)
                            .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
                    })
            })
    })
}
