// Package acttest runs the workflows for users from a push to the comment: act plays GitHub's runner on this machine,
// package ghfake its API, `benchgate sim` the server under test. Its tests need the build tag act and act itself:
// `make test-actions` brings both.
package acttest
