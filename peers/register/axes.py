"""Models whose positions have several axes: what each axis turns, varied alone.

The arrangement of pairs is written down here, and proved by `compare.py`.
"""

WITHOUT_SCHEDULES = ("ernie4_5_vl_moe_text", "cosmos3_edge_text")
BLOCKS = {"arrangement": "blocks", "default": [16, 24, 24]}
WOVEN = {"arrangement": "woven", "default": [24, 20, 20]}
SECTIONS = {
    "qwen2_vl_text": BLOCKS,
    "qwen2_5_vl_text": BLOCKS,
    "qwen2_5_omni_text": BLOCKS,
    "paddleocr_vl_text": BLOCKS,
    "glm4v_text": BLOCKS | {"default": [8, 12, 12]},
    "glm4v_moe_text": BLOCKS | {"default": [8, 12, 12]},
    "glm_ocr_text": BLOCKS | {"default": [8, 12, 12]},
    "glm_image_text": BLOCKS | {"default": [8, 12, 12]},
    "qwen3_vl_text": WOVEN,
    "qwen3_vl_moe_text": WOVEN,
    "qwen3_omni_moe_text": WOVEN,
    "qwen3_5_text": WOVEN | {"default": [11, 11, 10]},
    "qwen3_5_moe_text": WOVEN | {"default": [11, 11, 10]},
    "cosmos3_edge_text": WOVEN,
    "hy_v4_vl_text": WOVEN | {"default": [12, 10, 10]},
    "ernie4_5_vl_moe_text": {"arrangement": "last", "default": [22, 22, 20]},
}
