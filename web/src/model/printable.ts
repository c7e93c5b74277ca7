/** Text that nobody vouches for, as it may be shown: as in all other drawings of a tree (printable() in draw/unicode.h). */

const kActs = /\r(?=\n)|(?![\n\t])[\p{Cc}\p{Cs}\p{Bidi_Control}\p{Noncharacter_Code_Point}\u2028\u2029\ufeff]/gu;

function picture(character: string, at: number, text: string): string {
  const code = character.codePointAt(0)!;
  if (code === 0x0d && text[at + 1] === '\n') return ''; // a line end of two characters: the newline is enough
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? '\u2421' : '\ufffd';
}

/**
 * Control characters become their pictures; those that reorder the text around them, noncharacters and halves of
 * surrogate pairs become U+FFFD. Newlines and tabs stay.
 */
export function printable(text: string): string {
  return text.replace(kActs, picture);
}
