declare module '*.css' {
  /** The text of the style sheet, or nothing where the bundler loads it by itself. */
  const sheet: unknown;
  export default sheet;
}
