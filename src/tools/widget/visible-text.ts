/** Whether a text shows something: white space and zero-width characters do not. U+2800 is the empty pattern of Braille. */
export function isVisible(text: string | null): text is string {
  return /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\u2800]/u.test(text ?? '')
}
