package demo

// The definitions of the shop's tools, as they are listed.
const (
	listOrdersTool = `{
	"name": "list_orders",
	"title": "List orders",
	"description": "List orders of the shop, the newest first, with customer, lines, totals and shipping. Narrow by status or by customer id.",
	"inputSchema": {
		"type": "object",
		"properties": {
			"status": {"type": "string", "enum": ["paid", "packed", "shipped", "delivered", "returned"], "description": "Only orders in this state."},
			"customer": {"type": "string", "minLength": 1, "maxLength": 64, "description": "Only orders of this customer: an id as find_customers gives it, like c-003."},
			"limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20, "description": "How many orders at most."}
		},
		"additionalProperties": false
	},
	"annotations": {"title": "List orders", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false}
}`

	getOrderTool = `{
	"name": "get_order",
	"title": "Get one order",
	"description": "Read one order with its lines, totals, shipping and notes.",
	"inputSchema": {
		"type": "object",
		"properties": {
			"id": {"type": "integer", "minimum": 1, "description": "The order's id as list_orders gives it. Ids have 16 digits and every digit counts."}
		},
		"required": ["id"],
		"additionalProperties": false
	},
	"annotations": {"title": "Get one order", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false}
}`

	findCustomersTool = `{
	"name": "find_customers",
	"title": "Find customers",
	"description": "Find customers by a part of their id, name, email address or city, in Chinese or English. Upper and lower case are the same.",
	"inputSchema": {
		"type": "object",
		"properties": {
			"query": {"type": "string", "minLength": 1, "maxLength": 200, "description": "The text to look for, like 上海 or miller."}
		},
		"required": ["query"],
		"additionalProperties": false
	},
	"annotations": {"title": "Find customers", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false}
}`

	addNoteTool = `{
	"name": "add_note",
	"title": "Add a note to an order",
	"description": "Add a note for the staff to an order. Each call adds one more note; notes are never changed or removed. Gives back all notes of the order.",
	"inputSchema": {
		"type": "object",
		"properties": {
			"orderId": {"type": "integer", "minimum": 1, "description": "The order's id as list_orders gives it."},
			"text": {"type": "string", "minLength": 1, "maxLength": 500, "description": "The note."}
		},
		"required": ["orderId", "text"],
		"additionalProperties": false
	},
	"annotations": {"title": "Add a note to an order", "readOnlyHint": false, "destructiveHint": false, "idempotentHint": false, "openWorldHint": false}
}`

	slowReportTool = `{
	"name": "slow_report",
	"title": "Make a slow report",
	"description": "Count orders by status, slowly: takes as many seconds as asked for and reports progress once a second. For trying out progress and cancellation.",
	"inputSchema": {
		"type": "object",
		"properties": {
			"seconds": {"type": "integer", "minimum": 0, "maximum": 60, "description": "How long the report takes."}
		},
		"required": ["seconds"],
		"additionalProperties": false
	},
	"annotations": {"title": "Make a slow report", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false}
}`

	failTool = `{
	"name": "fail",
	"title": "Fail on purpose",
	"description": "Always fails. For trying out how errors look: kind=tool gives a tool error that a model can read, kind=protocol gives an error of the protocol.",
	"inputSchema": {
		"type": "object",
		"properties": {
			"kind": {"type": "string", "enum": ["tool", "protocol"], "description": "Which error to give."}
		},
		"required": ["kind"],
		"additionalProperties": false
	},
	"annotations": {"title": "Fail on purpose", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false}
}`

	exportAllTool = `{
	"name": "export_all",
	"title": "Export sold items",
	"description": "Export the sales log as JSON text, one row per sold item. The result is large: about 200 bytes a row.",
	"inputSchema": {
		"type": "object",
		"properties": {
			"rows": {"type": "integer", "minimum": 1, "maximum": 20000, "default": 2000, "description": "How many rows to export."}
		},
		"additionalProperties": false
	},
	"annotations": {"title": "Export sold items", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false}
}`

	categoryTreeTool = `{
	"name": "category_tree",
	"title": "Show the category tree",
	"description": "Show the tree of product categories with the number of products in each. A filter keeps one category and, where the filter itself has children, only those below it.",
	"inputSchema": {
		"type": "object",
		"properties": {
			"filter": {"$ref": "#/$defs/Category", "description": "The part of the tree to keep. Without it the whole tree is shown."}
		},
		"additionalProperties": false,
		"$defs": {
			"Category": {
				"type": "object",
				"properties": {
					"name": {"type": "string", "minLength": 1, "maxLength": 64, "description": "The category's name, like home or tea."},
					"children": {"type": "array", "maxItems": 50, "items": {"$ref": "#/$defs/Category"}, "description": "The categories to keep below it; all when left out or empty."}
				},
				"required": ["name"],
				"additionalProperties": false
			}
		}
	},
	"annotations": {"title": "Show the category tree", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false}
}`
)
