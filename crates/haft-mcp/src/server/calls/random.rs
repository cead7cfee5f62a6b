/// Gives bytes that nobody can guess.
///
/// # Panics
///
/// When the system has no randomness to give, without which nothing can be told apart or sealed.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system gives randomness");
    bytes
}

/// Makes a name that nobody can guess: 32 hexadecimal digits.
pub(super) fn random_name() -> String {
    format!("{:032x}", u128::from_le_bytes(random()))
}
