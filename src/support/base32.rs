//! The digits of [Crockford's base32](https://www.crockford.com/base32.html), five bits each.

/// The digits 0 to 31. In ASCII they ascend, so texts of one length sort as their numbers do.
const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// In [`VALUES`], a character that is no digit.
const NONE: u8 = u8::MAX;

/// The value of each ASCII character as a digit.
const VALUES: [u8; 128] = {
    let mut values = [NONE; 128];
    let mut value = 0;
    while value < 32 {
        values[DIGITS[value as usize] as usize] = value;
        value += 1;
    }
    values
};

/// The digit of the five lowest bits of `value`.
#[inline]
pub(crate) fn digit(value: u64) -> u8 {
    DIGITS[(value & 31) as usize]
}

/// The value of a digit as [`digit`] writes it: upper case, and no `O`, `I` or `L`.
#[inline]
pub(crate) fn value(character: char) -> Option<u8> {
    VALUES.get(character as usize).copied().filter(|&value| value != NONE)
}

/// The same as people write digits: lower case is upper case, `O` is 0, and `I` and `L` are 1.
pub(crate) fn lenient_value(character: char) -> Option<u8> {
    match character.to_ascii_uppercase() {
        'O' => Some(0),
        'I' | 'L' => Some(1),
        upper => value(upper),
    }
}

#[cfg(test)]
mod tests {
    use super::{digit, lenient_value, value};

    #[test]
    fn each_digit_is_read_as_its_value_and_nothing_else_is() {
        let digits: Vec<char> = (0..32).map(|value| char::from(digit(value))).collect();
        for character in (0..=0x2ff_u32).filter_map(char::from_u32) {
            let place = digits.iter().position(|&known| known == character);
            assert_eq!(value(character).map(usize::from), place, "{character:?}");
        }
        assert!(digits.is_sorted());
    }

    #[test]
    fn other_ways_to_write_a_digit_are_read_where_people_write() {
        for (written, meant) in [('o', 0), ('O', 0), ('i', 1), ('L', 1), ('z', 31), ('Z', 31)] {
            assert_eq!(lenient_value(written), Some(meant));
        }
        assert_eq!([lenient_value('u'), lenient_value('U'), lenient_value('é')], [None; 3]);
    }
}
