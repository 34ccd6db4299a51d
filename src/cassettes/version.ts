/** The number of the format. A reader refuses files with a larger one. */
export const formatVersion = 1
