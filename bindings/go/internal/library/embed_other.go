//go:build !linux || !(amd64 || arm64)

package library

import "embed"

// No library is made for this platform.
var files embed.FS

const folder = ""
