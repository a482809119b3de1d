/** Longest line kept of a function's log, in bytes; longer ones are truncated. */
export const longestLine = 65_536;

/** Ends a truncated line. */
export const cutMark = " [cut]";
