/** The version of this Slipway, as in package.json, which is not there where it runs bundled. */
export const version = '0.1.0';
