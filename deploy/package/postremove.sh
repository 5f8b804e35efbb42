#!/bin/sh
# The store and the user stay: see docs/install.md.
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
fi
