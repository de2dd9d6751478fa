/** A Python file as text: the bundler puts it in. */
declare module '*.py?raw' {
  const text: string
  export default text
}
