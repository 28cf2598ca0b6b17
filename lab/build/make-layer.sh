# Packages and files over a tree, as a layer of their own. Runs in a mount namespace of its own.
# Arguments: lower folders (as overlay wants them), folder for the layer, folder of files or nothing,
# setup script or nothing, packages, then pairs of a file here and its place inside.
lower=$1 layer=$2 files=$3 setup=$4 packages=$5
shift 5

beside=$(dirname "$layer")
root=$beside/root
mkdir -p "$layer" "$beside/work" "$root"
mount -t overlay overlay -o "lowerdir=$lower,upperdir=$layer,workdir=$beside/work" "$root"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount --bind /etc/resolv.conf "$root/etc/resolv.conf"
# The lists and archives of apt stay out of every layer; the tree at the bottom has the lists.
mount -t tmpfs tmpfs "$root/var/lib/apt/lists"
cp --recursive "${lower##*:}/var/lib/apt/lists/." "$root/var/lib/apt/lists"
mount -t tmpfs tmpfs "$root/var/cache/apt"
mkdir -p "$root/var/cache/apt/archives/partial"

if [ -n "$files" ]; then
  (cd "$files" && tar --create --owner=0 --group=0 .) | tar --extract --directory="$root" --no-overwrite-dir
fi
while [ $# -gt 1 ]; do
  mkdir -p "$(dirname "$root$2")"
  cp --recursive --no-dereference --preserve=mode "$1" "$root$2"
  shift 2
done
if [ -n "$packages" ]; then
  # Packages must not start what they install.
  policy=$root/usr/sbin/policy-rc.d
  own=
  if [ ! -e "$policy" ]; then
    own=yes
    printf '#!/bin/sh\nexit 101\n' > "$policy"
    chmod 755 "$policy"
  fi
  # shellcheck disable=SC2086 # a list of package names of ours
  chroot "$root" apt-get install --yes --quiet --no-install-recommends $packages
  [ -z "$own" ] || rm "$policy"
fi
if [ -n "$setup" ]; then
  chroot "$root" /bin/sh -euc "$setup"
fi
umount --recursive "$root"
