"""Read the boxes of a VOC file; convert them for torchvision, YOLO, COCO."""

import xml.etree.ElementTree as ET
from pathlib import Path

import torch
from torchvision.ops import box_convert

xml = """<annotation><size><width>200</width><height>100</height></size>
<object><name>dog</name><bndbox><xmin>50</xmin><ymin>20</ymin><xmax>150</xmax>
<ymax>80</ymax></bndbox></object></annotation>"""
Path("000001.xml").write_text(xml, encoding="utf-8")
path, names = "000001.xml", ["person", "dog"]  # yours

root, corners, ids = ET.parse(path), [], []
for item in root.findall("object"):
    for k in ("xmin", "ymin", "xmax", "ymax"):
        corners.append(float(item.findtext(f"bndbox/{k}")))
    ids.append(names.index(item.findtext("name")))
boxes = torch.tensor(corners).reshape(-1, 4)  # (N, 4): x1, y1, x2, y2
labels = torch.tensor(ids, dtype=torch.int64) + 1  # (N,): 0 is background

size = [float(root.findtext(f"size/{side}")) for side in ("width", "height")]
yolo = box_convert(boxes, "xyxy", "cxcywh") / torch.tensor(size * 2)
print("torchvision", boxes.tolist(), labels.tolist(), "YOLO", yolo.tolist())
