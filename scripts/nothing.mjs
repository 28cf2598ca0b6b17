// Nothing to run: `node scripts/run.mjs scripts/nothing.mjs` installs what the lock file asks for, and ends.
