/** The options of Node that make the imports of this process quick, for its children. Empty outside of `npm test`. */
export const importOptions = process.execArgv.filter((option) => option.includes('/quick-imports/'))
