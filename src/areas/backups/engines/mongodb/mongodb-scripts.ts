/** The scripts behind the engine of MongoDB. Constant texts; the password stays in the container's environment. */
import { detectCompression, waitFor } from '../file-scripts.ts';

/** Its tools take a password from an argument, which everyone could read, or from a file of settings: here a pipe. */
const withPassword = (tool: string) => `${tool} --config=/dev/fd/5 --username="$MONGO_INITDB_ROOT_USERNAME" \\
  --authenticationDatabase=admin --db=app 5<<END
password: "$MONGO_INITDB_ROOT_PASSWORD"
END
`;

/**
 * In the container. A server on its own has no log of its operations, so each collection is as it was when it was read:
 * the documents that are counted are those that were written into the archive.
 */
export const mongodbDumpScript = `
exec 4>&1
code=0
said=$( { ${withPassword('mongodump --archive')} } 2>&1 >&4 ) || code=$?
if [ "$code" != 0 ]; then printf '%s\\n' "$said" >&2; exit "$code"; fi
printf '%s\\n' "$said" | sed -n -e 's/[\\\\"]/\\\\&/g' \\
  -e 's/^.*done dumping app\\.\\(.*\\) (\\([0-9]*\\) documents\\{0,1\\})$/@stat ["documents of \\1",\\2]/p' >&2
`;

const plainDump = withPassword('exec mongodump --archive --quiet');
const plainRestore = withPassword('exec mongorestore --archive --stopOnError --drop');

const counting = `
db.getSiblingDB("admin").auth(process.env.MONGO_INITDB_ROOT_USERNAME, process.env.MONGO_INITDB_ROOT_PASSWORD);
const app = db.getSiblingDB("app");
for (const { name, type } of app.getCollectionInfos())
  if (type === "collection") print("@stat " + JSON.stringify(["documents of " + name, app.getCollection(name).countDocuments({})]));
`;

/** The first start makes the users with a server that ends again; the log says when that is over. */
const inScratch = `
is_ready() {
  docker logs "$1" 2>&1 | grep -q 'init process complete' || return 1
  docker exec "$1" mongosh --quiet --eval 'db.runCommand({ ping: 1 }).ok'
}
${waitFor}${detectCompression}
restore() { docker exec -i "$1" sh -euc '${plainRestore}'; }
`;

export const mongodbReadyScript = `is_ready() { docker exec "$1" mongosh --quiet --eval 'db.runCommand({ ping: 1 }).ok'; }
${waitFor}
wait_for "$1"
`;

/** `$1` scratch, `$2` file. */
export const mongodbVerifyScript = `${inScratch}
wait_for "$1"
detect_compression "$2"
reading "$2"
"\${unpack[@]}" <&8 | restore "$1" >&2
read_done
docker exec "$1" mongosh --quiet --eval '${counting}'
`;

/** `$1` live, `$2` scratch, `$3` file, `$4` empty or copy. In the end the server is shut down: its folder is whole then. */
export const mongodbLoadScript = `${inScratch}
detect_compression "$3"
if [ "$({ "\${unpack[@]}" <"$3" 2>/dev/null || :; } | head -c 4 | as_hex)" != 6de29981 ]; then
  echo '@refused no archive of mongodump'
  exit 1
fi
wait_for "$2"
if [ "$4" = copy ]; then
  echo '@stage Copying the live data.'
  docker exec "$1" sh -euc '${plainDump}' | restore "$2" >&2
fi
echo '@stage Loading the file.'
reading "$3"
"\${unpack[@]}" <&8 | restore "$2" >&2
read_done
echo '@stage Closing the new data folder.'
docker stop --time 300 "$2" >/dev/null
if [ "$(docker inspect --format '{{.State.ExitCode}}' "$2")" != 0 ]; then
  docker logs --tail 15 "$2" >&2
  echo 'the database did not close its data folder' >&2
  exit 1
fi
`;
