/** Text of others (titles, names, paths) on our terminal: no control character of it may act there. */
export function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '�');
}
