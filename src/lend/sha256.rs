//! SHA-256, as FIPS 180-4 has it: a store keeps only the hash of a secret, so that nobody who reads
//! the table can renew or return the loan of another. The input is a short text, once a call.

const ROUNDS: [u32; 64] = [
    0x428a_2f98,
    0x7137_4491,
    0xb5c0_fbcf,
    0xe9b5_dba5,
    0x3956_c25b,
    0x59f1_11f1,
    0x923f_82a4,
    0xab1c_5ed5,
    0xd807_aa98,
    0x1283_5b01,
    0x2431_85be,
    0x550c_7dc3,
    0x72be_5d74,
    0x80de_b1fe,
    0x9bdc_06a7,
    0xc19b_f174,
    0xe49b_69c1,
    0xefbe_4786,
    0x0fc1_9dc6,
    0x240c_a1cc,
    0x2de9_2c6f,
    0x4a74_84aa,
    0x5cb0_a9dc,
    0x76f9_88da,
    0x983e_5152,
    0xa831_c66d,
    0xb003_27c8,
    0xbf59_7fc7,
    0xc6e0_0bf3,
    0xd5a7_9147,
    0x06ca_6351,
    0x1429_2967,
    0x27b7_0a85,
    0x2e1b_2138,
    0x4d2c_6dfc,
    0x5338_0d13,
    0x650a_7354,
    0x766a_0abb,
    0x81c2_c92e,
    0x9272_2c85,
    0xa2bf_e8a1,
    0xa81a_664b,
    0xc24b_8b70,
    0xc76c_51a3,
    0xd192_e819,
    0xd699_0624,
    0xf40e_3585,
    0x106a_a070,
    0x19a4_c116,
    0x1e37_6c08,
    0x2748_774c,
    0x34b0_bcb5,
    0x391c_0cb3,
    0x4ed8_aa4a,
    0x5b9c_ca4f,
    0x682e_6ff3,
    0x748f_82ee,
    0x78a5_636f,
    0x84c8_7814,
    0x8cc7_0208,
    0x90be_fffa,
    0xa450_6ceb,
    0xbef9_a3f7,
    0xc671_78f2,
];

const START: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// The hash of `text`, in hexadecimal.
pub fn hex(text: &str) -> String {
    let mut message = text.as_bytes().to_vec();
    let bits = message.len() as u64 * 8;
    message.push(0x80);
    message.resize((message.len() + 8).next_multiple_of(64) - 8, 0);
    message.extend(bits.to_be_bytes());
    let mut state = START;
    for block in message.chunks_exact(64) {
        add_block(&mut state, block);
    }
    let digits = |word: &u32| format!("{word:08x}");
    state.iter().map(digits).collect::<Vec<_>>().concat()
}

fn add_block(state: &mut [u32; 8], block: &[u8]) {
    let mut words = [0_u32; 64];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = bytes.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
    }
    for index in 16..64 {
        let (near, far) = (words[index - 2], words[index - 15]);
        let near = near.rotate_right(17) ^ near.rotate_right(19) ^ near >> 10;
        let far = far.rotate_right(7) ^ far.rotate_right(18) ^ far >> 3;
        words[index] =
            words[index - 16].wrapping_add(far).wrapping_add(words[index - 7]).wrapping_add(near);
    }
    // What the standard calls a to h.
    let mut rotating = *state;
    for (word, round) in words.into_iter().zip(ROUNDS) {
        rotating = next(rotating, word.wrapping_add(round));
    }
    for (word, added) in state.iter_mut().zip(rotating) {
        *word = word.wrapping_add(added);
    }
}

/// The eight words after a round.
fn next(words: [u32; 8], added: u32) -> [u32; 8] {
    let [one, two, three, four, five, six, seven, eight] = words;
    let sum = five.rotate_right(6) ^ five.rotate_right(11) ^ five.rotate_right(25);
    let choice = five & six ^ !five & seven;
    let first = eight.wrapping_add(sum).wrapping_add(choice).wrapping_add(added);
    let sum = one.rotate_right(2) ^ one.rotate_right(13) ^ one.rotate_right(22);
    let majority = one & two ^ one & three ^ two & three;
    let second = first.wrapping_add(sum).wrapping_add(majority);
    [second, one, two, three, four.wrapping_add(first), five, six, seven]
}

#[cfg(test)]
mod tests {
    use super::hex;

    /// The examples of the standard, and of one that needs a further block for its length.
    #[test]
    fn the_vectors_of_the_standard_come_out() {
        for (text, hash) in [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
            (
                &"a".repeat(1_000_000),
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
            ),
        ] {
            assert_eq!(hex(text), hash);
        }
    }
}
