/** The port that functions in containers listen on. */
export const functionPort = 8080;
