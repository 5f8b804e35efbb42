// Write data to Excel worksheet
type s5__write_data_to_excel_40 = (_: {
// Path to Excel file
filepath: string,
// Name of worksheet
sheet_name: string,
// List of lists containing data to write
data: any[],
// Cell to start writing to (default "A1")
start_cell?: string
}) => any;
s0__apply_formula_14(filepath: string, sheet_name: string, cell: string, formula: string) — Apply Excel formula to cell with verification
s0__apply_formula_35(filepath: string, sheet_name: string, cell: string, formula: string) — Apply Excel formula to cell with verification
s0__apply_formula_56(filepath: string, sheet_name: string, cell: string, formula: string) — Apply Excel formula to cell with verification
s0__read_data_from_excel_0(filepath: string, sheet_name: string, start_cell?: string, end_cell?: string, preview_only?: boolean) — Read data from Excel worksheet with cell metadata including validation rules
s0__read_data_from_excel_21(filepath: string, sheet_name: string, start_cell?: string, end_cell?: string, preview_only?: boolean) — Read data from Excel worksheet with cell metadata including validation rules
s0__read_data_from_excel_42(filepath: string, sheet_name: string, start_cell?: string, end_cell?: string, preview_only?: boolean) — Read data from Excel worksheet with cell metadata including validation rules
s0__write_data_to_excel_28(filepath: string, sheet_name: string, data: any[], start_cell?: string) — Write data to Excel worksheet
s0__write_data_to_excel_49(filepath: string, sheet_name: string, data: any[], start_cell?: string) — Write data to Excel worksheet
s0__write_data_to_excel_7(filepath: string, sheet_name: string, data: any[], start_cell?: string) — Write data to Excel worksheet
s1__apply_formula_29(filepath: string, sheet_name: string, cell: string, formula: string) — Apply Excel formula to cell with verification
s1__apply_formula_50(filepath: string, sheet_name: string, cell: string, formula: string) — Apply Excel formula to cell with verification
s1__apply_formula_8(filepath: string, sheet_name: string, cell: string, formula: string) — Apply Excel formula to cell with verification
s1__read_data_from_excel_15(filepath: string, sheet_name: string, start_cell?: string, end_cell?: string, preview_only?: boolean) — Read data from Excel worksheet with cell metadata including validation rules
s1__read_data_from_excel_36(filepath: string, sheet_name: string, start_cell?: string, end_cell?: string, preview_only?: boolean) — Read data from Excel worksheet with cell metadata including validation rules
// More tools, by name only: s1__read_data_from_excel_57, s1__write_data_to_excel_1, s1__write_data_to_excel_22, s1__write_data_to_excel_43, s2__apply_formula_2, s2__apply_formula_23, s2__apply_formula_44, s2__read_data_from_excel_30, s2__read_data_from_excel_51, s2__read_data_from_excel_9, s2__write_data_to_excel_16, s2__write_data_to_excel_37, s2__write_data_to_excel_58, s3__apply_formula_17, s3__apply_formula_38, s3__apply_formula_59, s3__read_data_from_excel_24, s3__read_data_from_excel_3, s3__read_data_from_excel_45, s3__write_data_to_excel_10, s3__write_data_to_excel_31, s3__write_data_to_excel_52, s4__apply_formula_11, s4__apply_formula_32, s4__apply_formula_53, s4__read_data_from_excel_18, s4__read_data_from_excel_39, s4__write_data_to_excel_25, s4__write_data_to_excel_4, s4__write_data_to_excel_46, s5__apply_formula_26, s5__apply_formula_47, s5__apply_formula_5, s5__read_data_from_excel_12, s5__read_data_from_excel_33, s5__read_data_from_excel_54, s5__write_data_to_excel_19, s6__apply_formula_20, s6__apply_formula_41, s6__read_data_from_excel_27, s6__read_data_from_excel_48, s6__read_data_from_excel_6, s6__write_data_to_excel_13, s6__write_data_to_excel_34, s6__write_data_to_excel_55
