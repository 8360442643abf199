#!/usr/bin/env bash
# Builds an OCI image without a daemon and without an engine, from the package.json and package-lock.json of this folder.
# Needs mmdebstrap, umoci, skopeo and npm, and root.
#
#   bash node_modules/bellwire/deploy/container/build.sh bellwire-image
#
# It has the C library of Debian, Node and the installed packages: no shell and no package manager. It runs as the user 1000, and
# its only writable folder is /var/lib/bellwire, with bellwire.yaml and the store.
set -euo pipefail
image=${1:?name the folder of the image}:latest
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

list="for deb in \"\$1\"/var/cache/apt/archives/*.deb; do dpkg-deb --show --showformat='\${Package} \${Version} \${Architecture}\\n' \"\$deb\"; done > '$work/packages'"
mmdebstrap --quiet --variant=extract --include=base-files,libc6,libstdc++6 --extract-hook="$list" "${DEBIAN:-trixie}" "$work/debian.tar"
mkdir "$work/debian" && tar -C "$work/debian" --exclude='./dev/*' -xf "$work/debian.tar"
# Nothing of these is read.
rm -rf "$work"/debian/usr/share/{doc,man,locale,lintian,bug} "$work"/debian/var/{cache,lib}/* "$work"/debian/etc/apt
echo 'bellwire:x:1000:1000::/var/lib/bellwire:/sbin/nologin' >> "$work/debian/etc/passwd"
echo 'bellwire:x:1000:' >> "$work/debian/etc/group"
install -d -o 1000 -g 1000 "$work/debian/var/lib/bellwire"

mkdir "$work/node" "$work/app"
echo '{"private": true, "allowScripts": {"node": true}}' > "$work/node/package.json"
(cd "$work/node" && npm install --silent --no-audit --no-fund "node@${NODE:-24}")
install -D "$work/node/node_modules/node/bin/node" "$work/debian/usr/local/bin/node"

cp package.json package-lock.json "$work/app"
(cd "$work/app" && npm ci --silent --omit=dev --no-audit --no-fund)

# The bill of materials of the whole image.
"$work/debian/usr/local/bin/node" -e "
  const [work, distro] = process.argv.slice(1), read = (name) => fs.readFileSync(work + '/' + name, 'utf8')
  const sbom = JSON.parse(read('app/node_modules/bellwire/sbom.cdx.json'))
  const { version } = JSON.parse(read('node/node_modules/node/package.json'))
  sbom.components.push({ type: 'application', name: 'node', version, purl: 'pkg:npm/node@' + version })
  for (const [name, version, arch] of read('packages').trim().split('\\n').map((line) => line.split(' ')))
    sbom.components.push({ type: 'library', name, version, purl: 'pkg:deb/debian/' + encodeURIComponent(name) + '@' + encodeURIComponent(version) + '?arch=' + arch + '&distro=' + distro })
  fs.writeFileSync(work + '/app/sbom.cdx.json', JSON.stringify(sbom, undefined, 2))
" "$work" "${DEBIAN:-trixie}"

umoci init --layout "${image%:*}"
umoci new --image "$image"
umoci insert --image "$image" "$work/debian" /
umoci insert --image "$image" "$work/app" /srv/bellwire
umoci config --image "$image" --config.user 1000:1000 --config.workingdir /var/lib/bellwire --config.volume /var/lib/bellwire \
  --config.entrypoint /usr/local/bin/node --config.entrypoint /srv/bellwire/node_modules/bellwire/bin/bellwire.cjs \
  --config.cmd operator
umoci gc --layout "${image%:*}"
skopeo inspect "oci:$image"
