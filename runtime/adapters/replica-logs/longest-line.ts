/** Longest line of a function's log that is kept, in bytes. */
export const longestLine = 65_536;

/** Ends a line that was longer. */
export const cutMark = " [cut]";
