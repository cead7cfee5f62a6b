use super::arguments::ShowOptions;
use crate::exit::Exit;
use crate::paint::NAME;
use haft::policy::Profile;

/// Prints a built-in profile, or lists them.
pub(super) fn show(options: &ShowOptions) -> Exit {
    if let Some(profile) = options.profile {
        out!("{}", profile.text());
        return Exit::Done;
    }
    let width = Profile::ALL.iter().map(|profile| profile.as_str().len()).max().unwrap_or_default();
    for profile in Profile::ALL {
        let about = profile.text().lines().next().unwrap_or_default().trim_start_matches(['#', ' ']);
        outln!("{NAME}{:width$}{NAME:#}  {about}", profile.as_str());
    }
    outln!(
        "\nPrint one with `haft policy show NAME`, and choose one with `--profile NAME` or in a policy file."
    );
    Exit::Done
}
