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
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = random::<16>().into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}
