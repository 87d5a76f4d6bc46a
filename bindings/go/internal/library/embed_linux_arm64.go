package library

import "embed"

//go:embed linux_arm64
var files embed.FS

const folder = "linux_arm64"
