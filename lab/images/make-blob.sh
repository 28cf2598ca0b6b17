# Writes a tree, or what one layer adds to the layers below it, to standard output as the tar of an image's layer.
# Runs in a mount namespace of its own. Arguments: folders joined by `:`, the topmost first; `whole` or `layer`.
folders=$1 what=$2

scratch=$(mktemp -d)
trap 'cd /; umount --recursive "$scratch"; rmdir "$scratch"' EXIT
mount -t tmpfs tmpfs "$scratch"
mkdir "$scratch/deleted"
: > "$scratch/skip"

if [ "$what" = whole ]; then
  folder=$scratch/root
  mkdir "$folder" "$scratch/upper" "$scratch/work"
  mount -t overlay overlay -o "lowerdir=$folders,upperdir=$scratch/upper,workdir=$scratch/work" "$folder"
else
  folder=${folders%%:*}
  cd "$folder"
  # What overlay keeps as a device with the number 0, images spell as a file named `.wh.<name>`.
  find . -path ./dev -prune -o -type c -print | while read -r path; do
    [ "$(stat --format=%t:%T "$path")" = 0:0 ] || continue
    printf '%s\n' "$path" >> "$scratch/skip"
    mkdir -p "$scratch/deleted/$(dirname "$path")"
    : > "$scratch/deleted/$(dirname "$path")/.wh.$(basename "$path")"
  done
  # A folder that replaces the one below it whole.
  getfattr --recursive --physical --name=trusted.overlay.opaque . 2> "$scratch/none" |
    sed -n 's/^# file: //p' | while read -r path; do
    mkdir -p "$scratch/deleted/$path"
    : > "$scratch/deleted/$path/.wh..wh..opq"
  done
fi

# Parents first with their own modes: the folders of the second part exist by then and are not listed again.
(cd "$scratch/deleted" && find . -type f) > "$scratch/list"
set -- .
if [ -s "$scratch/list" ]; then
  set -- "$@" --directory="$scratch/deleted" --no-recursion --files-from="$scratch/list"
fi
cd "$folder"
tar --create --numeric-owner --sort=name --no-wildcards --exclude-from="$scratch/skip" \
  --wildcards --exclude='./dev/*' --exclude='./proc/*' --exclude='./sys/*' --exclude='./tmp/*' \
  --exclude='./var/lib/apt/lists/*' --exclude='./var/cache/apt/*' "$@"
