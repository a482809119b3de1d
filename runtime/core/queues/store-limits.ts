/** Share of the broker's store from which on no call is accepted, so that existing calls can end. */
export const storeLimit = 0.9;

/** Fill of a queue or store from which on it is reported, before calls are refused. */
export const nearlyFull = 0.75;
