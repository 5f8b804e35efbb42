package script

import (
	"slices"
	"strings"
)

var reserved = strings.Fields(`
	arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally
	for function if implements import in instanceof interface let new null package private protected public return static
	super switch this throw true try typeof var void while with yield

	AggregateError Array ArrayBuffer BigInt BigInt64Array BigUint64Array Boolean DataView Date Error EvalError Float16Array Float32Array
	Float64Array Function Infinity Int16Array Int32Array Int8Array InternalError Iterator JSON Map Math NaN Number Object Promise Proxy
	RangeError ReferenceError Reflect RegExp Set String Symbol SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array
	Uint8ClampedArray WeakMap WeakSet decodeURI decodeURIComponent encodeURI encodeURIComponent escape globalThis isFinite isNaN
	parseFloat parseInt undefined unescape

	console crypto describe input search sleep tools`)

// Reserved reports whether a word of the language or a global of every script has the name, so that
// no server can.
func Reserved(name string) bool { return slices.Contains(reserved, name) }
