"""Read the boxes of a VOC file; convert them for torchvision, YOLO, COCO."""

import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

import torch
from torchvision.ops import box_convert

dog = "<xmin>51</xmin><ymin>21</ymin><xmax>150</xmax><ymax>80</ymax>"
dog = f"<object><name>dog</name><bndbox>{dog}</bndbox></object>"
path = Path(tempfile.mkdtemp(), "000001.xml")
path.write_text(f"<annotation>{dog}</annotation>")
names, w, h = ["person", "dog"], 200, 100  # classes; size of the image

found = ET.parse(path).findall("object")
keys = ["xmin", "ymin", "xmax", "ymax"]
voc = [[float(o.findtext(f"bndbox/{k}")) for k in keys] for o in found]
boxes = torch.tensor(voc).reshape(-1, 4) - torch.tensor([1, 1, 0, 0])
ids = torch.tensor([names.index(o.findtext("name")) for o in found]).long()
yolo = box_convert(boxes, "xyxy", "cxcywh") / torch.tensor([w, h, w, h])

print("torchvision", {"boxes": boxes.tolist(), "labels": (ids + 1).tolist()})
print("COCO bbox", box_convert(boxes, "xyxy", "xywh").tolist())
print("YOLO", *ids.tolist(), *[f"{v:.6f}" for v in yolo.flatten().tolist()])
